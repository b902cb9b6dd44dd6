package pass

import "github.com/gorge-tf/gorge/internal/graph"

// forwards are nodes that others take the place of, while a pass goes through the
// nodes in order. Each node is settled before the pass looks at it: then its inputs
// are final, as what takes a place stands before it. So the edges of a graph are
// rewritten once in a pass, however many nodes one node reads.
type forwards struct {
	budget *graph.Budget
	values [][]graph.Edge  // by ID: what takes the place of each output; nil: nothing
	orders [][]*graph.Node // by ID: what to wait for instead; nil: the node itself
}

func newForwards(g *graph.Graph) *forwards {
	return &forwards{budget: g.Budget, values: make([][]graph.Edge, len(g.Nodes)), orders: make([][]*graph.Node, len(g.Nodes))}
}

// replace makes all that use n and have not been settled use other nodes: with, by
// output, where that is set. They come after what after lists instead of after n,
// unless after is nil.
func (f *forwards) replace(n *graph.Node, with []graph.Edge, after []*graph.Node) {
	f.values[n.ID], f.orders[n.ID] = with, after
}

// settle gives n what takes the place of its inputs. It fails when the pass is to
// end.
func (f *forwards) settle(n *graph.Node) error {
	for k, x := range n.In {
		if x.Node.ID >= len(f.values) { // added by the pass
			continue
		}
		if with := f.values[x.Node.ID]; with != nil && with[x.Out].Node != nil {
			n.In[k] = with[x.Out]
		}
	}
	for i, c := range n.Control {
		if f.order(c) != nil {
			f.settleControl(n, i)
			break
		}
	}
	return f.budget.Visit(1 + len(n.In) + len(n.Control))
}

// order returns what to wait for instead of c, nil if that is c.
func (f *forwards) order(c *graph.Node) []*graph.Node {
	if c.ID >= len(f.orders) {
		return nil
	}
	return f.orders[c.ID]
}

// settleControl rewrites the control inputs of n, the first of which to be
// replaced is number i.
func (f *forwards) settleControl(n *graph.Node, i int) {
	keep, more := append([]*graph.Node(nil), n.Control[:i]...), []*graph.Node(nil)
	for _, c := range n.Control[i:] {
		if to := f.order(c); to != nil {
			more = append(more, to...)
		} else {
			keep = append(keep, c)
		}
	}
	n.Control = keep
	n.AddControls(more...)
}

// degrees says of each node, by ID, how often its values are read, and whether
// others wait for it.
type degrees struct {
	reads []int32
	waits []bool
}

func degreesOf(g *graph.Graph) degrees {
	d := degrees{make([]int32, len(g.Nodes)), make([]bool, len(g.Nodes))}
	for _, n := range g.Nodes {
		for _, x := range n.In {
			d.reads[x.Node.ID]++
		}
		for _, c := range n.Control {
			d.waits[c.ID] = true
		}
	}
	return d
}

// used reports whether anything depends on n.
func (d *degrees) used(n *graph.Node) bool { return d.reads[n.ID] > 0 || d.waits[n.ID] }
