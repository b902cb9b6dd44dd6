package recompute

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
)

// A segment is a set of nodes that are computed again together.
type segment struct {
	nodes []*graph.Node // in order
	keeps bool          // what others than gradients read of it
}

// segments has those that the program has marked computed again.
func (r *rewriter) segments() error {
	for _, s := range r.marked() {
		if err := r.again(s); err != nil {
			return err
		}
	}
	return nil
}

// marked returns the segments: nodes with the same mark, of one loop, as far as they are
// joined by edges.
func (r *rewriter) marked() (out []segment) {
	type key struct {
		hint  int64
		frame int
	}
	by := map[key][]*graph.Node{}
	for _, n := range r.order {
		if hint, ok := n.Attrs[Hint].(int64); ok && r.pure(n) && !r.live.Bad(n) {
			k := key{hint, r.live.Frame(n)}
			by[k] = append(by[k], n)
		}
	}
	for k, nodes := range by {
		for _, part := range joined(nodes) {
			out = append(out, segment{part, k.hint != 0})
		}
	}
	slices.SortFunc(out, func(a, b segment) int { return r.place[a.nodes[0].ID] - r.place[b.nodes[0].ID] })
	return out
}

// joined returns the groups of nodes that are joined by edges between them.
func joined(nodes []*graph.Node) (out [][]*graph.Node) {
	root := map[*graph.Node]*graph.Node{}
	for _, n := range nodes {
		root[n] = n
	}
	find := func(n *graph.Node) *graph.Node {
		for root[n] != n {
			root[n] = root[root[n]]
			n = root[n]
		}
		return n
	}
	for _, n := range nodes {
		for _, e := range n.In {
			if root[e.Node] != nil {
				root[find(e.Node)] = find(n)
			}
		}
	}
	at := map[*graph.Node]int{}
	for _, n := range nodes {
		f := find(n)
		i, ok := at[f]
		if !ok {
			i = len(out)
			at[f], out = i, append(out, nil)
		}
		out[i] = append(out[i], n)
	}
	return out
}

// again makes the gradients that read values of a segment read copies.
func (r *rewriter) again(s segment) error {
	in := set(s.nodes)
	again := maps.Clone(in)
	var wanted, readers []*graph.Node
	for _, n := range s.nodes {
		if err := r.g.Budget.Visit(1 + len(r.uses[n.ID])); err != nil {
			return err
		}
		if s.keeps && r.leaves(n, in) {
			delete(again, n)
			continue
		}
		if late, ok := r.late(n, anyOutput); ok {
			wanted, readers = append(wanted, n), append(readers, late...)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	triggers := r.triggers(readers)
	if len(triggers) == 0 {
		return nil
	}
	c := &copier{rewriter: r, triggers: triggers, copied: asBefore, wanted: anyOutput, again: again}
	return c.replace(wanted)
}

func set(nodes []*graph.Node) map[*graph.Node]bool {
	out := make(map[*graph.Node]bool, len(nodes))
	for _, n := range nodes {
		out[n] = true
	}
	return out
}

// leaves reports whether others than gradients read a value of n outside of in.
func (r *rewriter) leaves(n *graph.Node, in map[*graph.Node]bool) (yes bool) {
	r.readers(n, anyOutput, func(u *graph.Node) bool {
		yes = !in[u] && !r.gradient[u.ID]
		return !yes
	})
	return yes || len(r.uses[n.ID]) == 0
}
