package graph

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

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
		def, err := passing(n)
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

// passing is the op that does nothing but pass on what n does.
func passing(n *Node) (*core.OpDef, error) {
	if n.OutTypes[0].IsRef() {
		return core.LookupOp("RefIdentity")
	}
	return core.LookupOp("Identity")
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
