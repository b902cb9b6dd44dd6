package graph

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// onward names the ops that only pass on what those that begin an iteration do.
var onward = map[string]string{"NextIteration": "Identity", "RefNextIteration": "RefIdentity"}

// Straighten makes the nodes that begin an iteration outside of all loops pass their
// values on, as they do in TensorFlow. The graph stays as it is if it would go round
// then, or if its loops are wrong: who runs it hears of that.
func (g *Graph) Straighten() error {
	if !slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.Role() == core.Repeats }) {
		return nil
	}
	order, _, err := g.sorted()
	if err != nil || len(order) != len(g.Nodes) {
		return err
	}
	changed := map[*Node]*core.OpDef{}
	for _, n := range g.strays(order) {
		def, err := core.LookupOp(onward[n.OpName()])
		if err != nil {
			return err
		}
		changed[n], n.Def = n.Def, def
	}
	if len(changed) == 0 {
		return nil
	}
	cyclic, err := g.Unsortable()
	if cyclic > 0 {
		for n, def := range changed {
			n.Def = def
		}
	}
	return err
}

// strays returns the nodes that begin an iteration outside of all loops.
func (g *Graph) strays(order []*Node) (out []*Node) {
	f := newFramer(len(order))
	for i, n := range order {
		if n.Role() == core.Repeats && f.locate(n) == nil && f.Of[n.ID] == 0 {
			out = append(out, n)
			f.done[n.ID] = true
		} else if f.at[n.ID] = i; f.visit(n) != nil {
			return nil
		}
	}
	return out
}
