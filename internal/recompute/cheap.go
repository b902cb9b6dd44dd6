package recompute

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// maxAgain bounds how many nodes are computed again in the place of one value, and how
// many inputs each has.
const maxAgain = 16

// minBytes is how large a value is for which it is worth while.
const minBytes = 4 << 10

// cheap has cheap values computed again, each by copies of its own: two that are needed at
// different times shall not wait in memory for each other.
func (r *rewriter) cheap() error {
	for _, n := range r.order {
		if err := r.g.Budget.Visit(1 + len(r.uses[n.ID])); err != nil {
			return err
		}
		if r.gone[n] || !r.needed[n.ID] || !r.isCheap(n) || size(n, 0) < minBytes {
			continue
		}
		readers, ok := r.late(n, firstOutput)
		if !ok {
			continue
		}
		if err := r.replace(n, readers); err != nil {
			return err
		}
	}
	return nil
}

// replace has n computed again for readers, if that saves memory.
func (r *rewriter) replace(n *graph.Node, readers []*graph.Node) error {
	again, kept := map[*graph.Node]bool{}, map[graph.Edge]bool{}
	if !r.closure(n, again, kept) || r.live.Bad(n) { // of maxAgain nodes at most, with as many inputs
		return nil
	}
	more := 0
	for e := range kept {
		more += size(e.Node, e.Out)
	}
	if more*2 > size(n, 0) {
		return nil
	}
	triggers := r.triggers(readers)
	if len(triggers) == 0 {
		return nil
	}
	c := &copier{rewriter: r, triggers: triggers, copied: fromMoments, wanted: firstOutput, again: again}
	return c.replace([]*graph.Node{n})
}

// closure adds to again the nodes that have to be computed for n, and to kept the values
// that have to be in memory for that and would not be otherwise.
func (r *rewriter) closure(n *graph.Node, again map[*graph.Node]bool, kept map[graph.Edge]bool) bool {
	if again[n] {
		return true
	}
	if again[n] = true; len(again) > maxAgain || len(n.In) > maxAgain {
		return false
	}
	for _, e := range n.In {
		switch m := e.Node; {
		case r.isKept(m) || size(m, e.Out)*16 <= size(n, 0):
		case r.isCheap(m) && r.live.Frame(m) == r.live.Frame(n):
			if !r.closure(m, again, kept) {
				return false
			}
		default:
			kept[e] = true
		}
	}
	return true
}

// isKept reports whether values of n are in memory when gradients are computed: these read
// them, or n is no part of the step.
func (r *rewriter) isKept(n *graph.Node) bool {
	return !r.gone[n] && (n.Role() == core.Constant || n.Def.Has(core.ReadsVariable) || r.needed[n.ID])
}

// isCheap reports whether n takes little time beside a product of matrices.
func (r *rewriter) isCheap(n *graph.Node) bool {
	const cheap = core.Elementwise | core.Rowwise | core.Passthrough | core.View
	return r.pure(n) && (n.Def.Has(core.NormalizesChannels) || len(n.OutTypes) == 1 && (n.Def.Light || n.Def.Has(cheap)))
}

// fromMoments returns the attributes and inputs of a copy of n, of which only output 0
// is read: moments of a batch are not computed again, outputs 3 and 4 of a normalization.
func fromMoments(n *graph.Node) (core.Attrs, []graph.Edge) {
	attrs, in := asBefore(n)
	if n.Def.Has(core.NormalizesChannels) && n.Bool("is_training") {
		attrs["is_training"] = false
		in[3], in[4] = graph.Edge{Node: n, Out: 3}, graph.Edge{Node: n, Out: 4}
	}
	return attrs, in
}

// size is the bytes of a value, as far as dimensions are known; unknown ones are the same
// everywhere.
func size(n *graph.Node, out int) int {
	s := n.OutShape(out)
	if s == nil {
		return 0
	}
	const most = 1 << 40
	elements := 1
	for _, d := range s {
		if d > 0 {
			elements *= min(d, most/elements) // most at most, whatever the sizes are
		}
	}
	return elements * max(n.OutTypes[out].Size(), 1)
}
