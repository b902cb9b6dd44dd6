package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Some nodes follow from a region without need, and what they give is needed within: the
// gradient of a loss begins with ones of the loss's shape, and gradients wait for others of
// their operation. Such nodes are made to read and to wait for something else.

// mostFilled bounds the elements of a constant that a shape is read of.
const mostFilled = 1 << 10

// comesApart reports whether n, which follows from the region, need not.
func (r *region) comesApart(n *graph.Node) bool {
	if !pure(n) || !r.mayWait(n) {
		return false
	}
	after := slices.ContainsFunc(n.In, func(e graph.Edge) bool { return r.dependent(e.Node) })
	if r.live.Of(n) == 0 {
		return !after || r.isFilled(n)
	}
	// What n reads, or will wait for, makes it dead or alive as before.
	return !after && slices.ContainsFunc(n.In, func(e graph.Edge) bool { return r.live.Together(e.Node, n) }) ||
		r.isFilled(n) && r.live.OnlyWaitsMore(n, r.anchor)
}

// isFilled reports whether n needs nothing of what it reads but a shape that the graph says.
func (r *region) isFilled(n *graph.Node) bool {
	s := n.OutShape(0)
	return n.Def.Has(core.FillsShape) && s.Known() && s.NumElements() <= mostFilled
}

// needed returns the nodes behind the first one that the region cannot run without. Others
// that need not follow from it do so all the same: what a gradient computes again waits for the
// gradient, as it did before.
func (r *region) needed() map[*graph.Node]bool {
	found := map[*graph.Node]bool{}
	todo := slices.Clone(r.nodes)
	for i := 0; i < len(todo); i++ { // the loop appends to todo
		for _, n := range r.before(todo[i]) {
			if !r.dependent(n) && !found[n] && r.place[n.ID] > r.place[r.nodes[0].ID] {
				found[n] = true
				todo = append(todo, n)
			}
		}
	}
	return found
}

// before returns what n reads and waits for, groups left out: their nodes instead.
func (r *region) before(n *graph.Node) (out []*graph.Node) {
	for _, e := range n.In {
		out = append(out, e.Node)
	}
	for _, c := range n.Control {
		if r.outer[c] {
			out = append(out, c.Control...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// part makes such a node independent of the region.
func (r *region) part(n *graph.Node) error {
	if r.isFilled(n) && r.dependent(n.In[0].Node) {
		t, err := core.AllocTensor(n.OutTypes[0], n.OutShape(0))
		if err != nil {
			return err
		}
		c, err := r.g.AddNew(n.Name+"/shape", "Const", core.Attrs{"dtype": t.DType(), "value": t}, n.Device)
		if err != nil {
			return err
		}
		if c.Shapes = []core.Shape{t.Shape().Clone()}; r.live.Of(n) != 0 {
			c.AddControl(r.anchor)
		}
		n.In[0] = graph.Edge{Node: c}
	}
	before := n.Control
	n.Control = nil
	r.awaitOutside(n, before)
	return nil
}

// awaitOutside has a node wait for those of others that are outside, and for what groups
// that follow from the region wait for outside.
func (r *region) awaitOutside(n *graph.Node, others []*graph.Node) {
	for _, c := range others {
		switch {
		case r.has(c):
		case r.outer[c]:
			for _, c := range c.Control {
				if !r.has(c) {
					r.awaited[c] = true
					n.AddControl(c)
				}
			}
		default:
			n.AddControl(c)
		}
	}
}
