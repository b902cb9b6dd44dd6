package pass

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// lateAttr marks nodes that run when all others of their part have.
const lateAttr = "_late"

// IsLate reports whether n is to run when all other nodes of its part have.
func IsLate(n *graph.Node) bool { return n.Bool(lateAttr) }

// FetchLate makes clients get the values that variables of the reference kind
// have at the step's end. What TensorFlow hands to the client is the variable's
// own memory, and so is a view of it (Identity, Reshape), which is copied when
// the step is over: programs that fetch a variable with the step that trains it
// see the update. A fetch from another task is a copy of what was sent, and stays
// what it is. g, the graph of one task, is placed and not yet split by device.
func FetchLate(g *graph.Graph) error {
	var uses [][]*graph.Node
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if !isTerminal(n) {
			continue
		}
		if uses == nil {
			g.Renumber()
			uses = g.Uses()
		}
		if len(uses[n.ID]) > 0 {
			continue
		}
		if err := (&lateFetch{g: g, terminal: n}).rewire(); err != nil {
			return err
		}
	}
	return nil
}

// isTerminal reports whether n hands its input to the client.
func isTerminal(n *graph.Node) bool {
	return n.Role() == core.Result || n.Role() == core.Sends && n.Bool("client_terminated")
}

// lateFetch is a fetch of a variable, perhaps through views.
type lateFetch struct {
	g        *graph.Graph
	terminal *graph.Node
	chain    []*graph.Node // the views, the last one first
}

// rewire makes the fetch read the variable late, through views of its own.
func (f *lateFetch) rewire() error {
	ref, ok := f.reference()
	if !ok {
		return nil
	}
	at := ref.Node.Device
	for k := len(f.chain) - 1; k >= 0; k-- {
		var err error
		if ref, err = f.again(f.chain[k], ref, at); err != nil {
			return err
		}
	}
	n := f.terminal
	if source := n.In[0].Node; source != ref.Node {
		n.AddControl(source) // what makes the view fail or dead does so still
	}
	n.In[0], n.Device = ref, at
	n.Attrs = with(n.Attrs, lateAttr, true)
	return nil
}

// reference finds the variable that the fetch reads, on a CPU device of this
// task: the memory of others is not that of the client.
func (f *lateFetch) reference() (graph.Edge, bool) {
	e := f.terminal.In[0]
	for !e.Type().IsRef() {
		if !e.Node.Def.Has(core.View) || !onHost(e.Node) {
			return e, false
		}
		f.chain = append(f.chain, e.Node)
		e = e.Node.In[0]
	}
	return e, onHost(e.Node) && onHost(f.terminal)
}

func onHost(n *graph.Node) bool {
	d, err := core.ParseDevice(n.Device)
	return err == nil && d.Type == "CPU"
}

// again adds a late copy of a view.
func (f *lateFetch) again(view *graph.Node, of graph.Edge, device string) (graph.Edge, error) {
	if view.Def.Has(core.Passthrough) {
		return of, nil
	}
	in := append([]graph.Edge{of}, view.In[1:]...)
	n, err := f.g.AddNew(view.Name+"/late", view.OpName(), view.Attrs, device, in...)
	if err != nil {
		return graph.Edge{}, err
	}
	n.CopyPos(&view.Node)
	n.Shapes = view.Shapes
	n.Attrs = with(n.Attrs, lateAttr, true)
	return graph.Edge{Node: n}, nil
}
