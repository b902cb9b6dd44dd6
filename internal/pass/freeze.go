package pass

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Freeze puts constants in the place of what reads variables, where value returns the
// value of the variable that a node of g stands for, not nil. A graph that might change
// a variable, or calls functions, stays as it is. g is placed and not yet partitioned.
func Freeze(g *graph.Graph, value func(holder *graph.Node) *core.Tensor) (err error) {
	defer core.Recover(&err, "the freezing of variables")
	if slices.ContainsFunc(g.Nodes, mayWrite) {
		return nil
	}
	e := newEditor(g, Options{}) // knows what the graph is run for
	f := freezer{g: g, value: value, read: map[*graph.Node]*graph.Node{}}
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if n.Def.Has(core.ReadsVariable) {
			f.freeze(n)
			continue
		}
		for k := range n.In {
			if err := f.dereference(n, k); err != nil {
				return err
			}
		}
	}
	e.sweep()
	return nil
}

type freezer struct {
	g     *graph.Graph
	value func(*graph.Node) *core.Tensor
	read  map[*graph.Node]*graph.Node // constants by the variable of the reference kind
}

// freeze makes a constant of n, which reads what a handle points to. It still waits for
// what it has waited for: in a branch that says whether it is dead.
func (f *freezer) freeze(n *graph.Node) {
	h := n.In[0].Node
	for h.Def.Has(core.Passthrough) && len(h.In) == 1 && len(h.Control) == 0 {
		h = h.In[0].Node
	}
	if !h.Def.Has(core.HoldsVariable) || len(h.Control) > 0 {
		return
	}
	t := f.value(h)
	if t == nil || t.DType() != n.OutTypes[0] {
		return
	}
	d, err := core.NewNode(n.Name, "Const", core.Attrs{"dtype": t.DType(), "value": t})
	if err != nil {
		return
	}
	d.Device = n.Device
	d.CopyPos(&n.Node)
	n.Node, n.In, n.Shapes = *d, nil, []core.Shape{t.Shape()}
}

// dereference makes input k of n a constant if it takes the value of a variable of the
// reference kind.
func (f *freezer) dereference(n *graph.Node, k int) error {
	x := n.In[k]
	if !x.Type().IsRef() || n.InTypes[k].IsRef() || !x.Node.Def.Has(core.HoldsVariable) || len(x.Node.Control) > 0 {
		return nil
	}
	c := f.read[x.Node]
	if c == nil {
		t := f.value(x.Node)
		if t == nil || t.DType() != n.InTypes[k] {
			return nil
		}
		var err error
		if c, err = f.g.AddNew(x.Node.Name+"/value", "Const", core.Attrs{"dtype": t.DType(), "value": t}, x.Node.Device); err != nil {
			return err
		}
		c.CopyPos(&x.Node.Node)
		c.Shapes = []core.Shape{t.Shape()}
		f.read[x.Node] = c
	}
	n.In[k] = graph.Edge{Node: c}
	return nil
}

// mayWrite reports whether n might change a variable: it has one as a resource or a
// reference and does more than to read it or to hand it on, or calls what might.
func mayWrite(n *graph.Node) bool {
	for _, v := range n.Attrs {
		switch v.(type) {
		case core.Func, []core.Func:
			return true
		}
	}
	if slices.ContainsFunc(n.InTypes, core.DType.IsRef) {
		return !n.Def.Has(core.TestsVariable)
	}
	return slices.Contains(n.InTypes, core.Resource) && !readsOnly(n)
}

// readsOnly reports whether n, which takes a resource, leaves variables as they are.
func readsOnly(n *graph.Node) bool {
	r := n.Role()
	return n.Def.Has(core.ReadsState|core.ReadsVariable|core.TestsVariable|core.Passthrough) || r.DirectsFlow() || r.MovesTensors() ||
		strings.HasPrefix(n.OpName(), "LookupTableFind") || strings.HasPrefix(n.OpName(), "TensorArray")
}
