package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// What comes apart from a region is there before the region has run. Nodes that only compute
// do not mind; those that change something, or read what others change, wait for what they
// followed: a variable keeps its value if a loss fails that the step computes first.

// minds reports whether it can be seen when n runs.
func minds(n *graph.Node) bool {
	d, ref := n.Def, core.DType.IsRef
	return d.Stateful || d.Composes || d.Function || d.Has(core.ReadsVariable) || n.Role() != core.Computes && n.Role() != core.Constant ||
		slices.ContainsFunc(n.InTypes, ref) || slices.ContainsFunc(n.OutTypes, ref)
}

// passOn notes n if it follows from what has come apart. One that minds counts as one that
// follows from the region.
func (r *region) passOn(n *graph.Node) {
	if !slices.ContainsFunc(n.Control, r.isFree) && !slices.ContainsFunc(n.In, func(e graph.Edge) bool { return r.free[e.Node] }) {
		return
	}
	if !minds(n) {
		r.free[n] = !r.outer[n]
		return
	}
	r.outer[n], r.minding = true, append(r.minding, n)
}

func (r *region) isFree(n *graph.Node) bool { return r.free[n] }

// followed returns what n, which has come apart, followed: the node of the region in the place of those within.
func (r *region) followed(n, region *graph.Node) (list []*graph.Node) {
	add := func(c *graph.Node) {
		if r.has(c) {
			c = region
		}
		if c == region || r.outer[c] {
			list = append(list, c)
		}
	}
	for _, e := range n.In {
		add(e.Node)
	}
	for _, c := range n.Control {
		add(c)
	}
	return list
}

// mostOwed bounds what a node waits for by itself: what is more is waited for by a group.
const mostOwed = 16

// keepOrder has nodes that mind wait for what those followed that have come apart and that they
// follow: owed says what that is, of each that has.
func (r *region) keepOrder(owed map[*graph.Node][]*graph.Node) error {
	if len(owed) == 0 {
		return nil
	}
	for _, n := range r.order {
		if r.has(n) {
			continue
		}
		list, err := r.owedBy(n, owed)
		switch {
		case err != nil:
			return err
		case len(list) == 0:
		case r.free[n]:
			owed[n] = list
		case minds(n) && n.Role() != core.Merges:
			n.AddControls(list...)
		}
	}
	return nil
}

// owedBy returns what n has to wait for.
func (r *region) owedBy(n *graph.Node, owed map[*graph.Node][]*graph.Node) ([]*graph.Node, error) {
	list := owed[n]
	join := func(c *graph.Node) error {
		if list = joined(list, owed[c]); len(list) <= mostOwed {
			return nil
		}
		all, err := r.g.AddNew(n.Name+"/followed", "NoOp", nil, n.Device)
		if err != nil {
			return err
		}
		all.AddControls(list...)
		list = []*graph.Node{all}
		return nil
	}
	if err := r.g.Budget.Visit(1 + len(n.In)); err != nil {
		return nil, err
	}
	for _, e := range n.In {
		if err := join(e.Node); err != nil {
			return nil, err
		}
	}
	for _, c := range n.Control {
		if err := join(c); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// joined returns what is in one of two lists.
func joined(a, b []*graph.Node) []*graph.Node {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a[:len(a):len(a)], n)
		}
	}
	return a
}
