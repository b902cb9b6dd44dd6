package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// ReadLate makes some users of variables of the reference kind read them when
// they run, and not when an Identity before them does. In TensorFlow what an
// Identity reads is the variable's own memory, so that updates show, and
// programs count on it in two places. One are counters, integer variables:
// SyncReplicasOptimizer hands out the global step as it is after the update
// that the Identity may run before. The other are loops that update what they
// read: each iteration sees what the one before it has written. Otherwise
// variables look the same to all users of a read of them within a step. g is
// the part of one device.
func ReadLate(g *graph.Graph) error {
	updated := updatedInLoops(g)
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if n.OpName() == "Enter" && n.Bool("is_constant") {
			if err := enterReference(n, updated); err != nil {
				return err
			}
		}
		if n.Role().DirectsFlow() {
			continue
		}
		for k, x := range n.In {
			if readsCounter(x.Node) {
				n.In[k] = x.Node.In[0]
				n.AddControl(x.Node)
			}
		}
	}
	return nil
}

// entered is a variable in a loop.
type entered struct {
	variable graph.Edge
	frame    string
}

// updatedInLoops finds the variables that loops take in as references.
func updatedInLoops(g *graph.Graph) map[entered]bool {
	out := map[entered]bool{}
	for _, n := range g.Nodes {
		if n.OpName() == "RefEnter" {
			out[entered{n.In[0], n.Str("frame_name")}] = true
		}
	}
	return out
}

// enterReference makes n, which takes the value of a variable into a loop that
// updates it, take the reference.
func enterReference(n *graph.Node, updated map[entered]bool) error {
	read := n.In[0].Node
	if !read.Def.Has(core.Passthrough) || !updated[entered{read.In[0], n.Str("frame_name")}] {
		return nil
	}
	d, err := core.NewNode(n.Name, "RefEnter", n.Attrs)
	if err != nil {
		return err
	}
	d.Device = n.Device
	d.CopyPos(&n.Node)
	n.Node, n.In = *d, []graph.Edge{read.In[0]}
	n.AddControl(read)
	return nil
}

var counters = []core.DType{core.Int32, core.Int64}

// readsCounter reports whether n is an Identity of a variable of integers.
func readsCounter(n *graph.Node) bool {
	if !n.Def.Has(core.Passthrough) {
		return false
	}
	d := n.In[0].Type()
	return d.IsRef() && slices.Contains(counters, d.Base())
}
