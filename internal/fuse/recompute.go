package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A cluster of a backward pass reads values from within a cluster of the forward pass.
// To write such a value and to read it again takes longer than to compute it once more,
// where that is an operation as simple as an addition:
//
//	before   A: h ─▶ Add ─▶ Mul ─▶ Tanh ─▶ …    writes the sum, the product, the tangent
//	         B: dy, sum, product, tangent ─▶ …  reads all three
//	after    A:                                 writes the tangent
//	         B: h ─▶ Add ─▶ Mul; dy, … ─▶ …     reads h and the tangent
//
// That is done only where no value is left to others than clusters, so that it need not
// be written, and where not more memory is kept for later than before: at most one
// other value, which is in memory anyway, is kept in its place. The bits are the same.

// maxAgain bounds how many nodes are computed again in the place of one value.
const maxAgain = 8

// maxReaders bounds how many clusters compute a value again.
const maxReaders = 4

// A recomputation decides which nodes clusters compute again.
type recomputation struct {
	l      *levels
	uses   [][]*graph.Node // by node ID: what reads a node
	waited []bool          // by node ID: a node waits for it
	groups [][]*graph.Node
	of     map[*graph.Node]int // the group of two nodes and more that a node is in
	again  []map[*graph.Node]bool
	reads  []map[graph.Edge]bool // by group: what it reads from outside
	gone   map[*graph.Node]bool  // their values are written no more
}

// computeAgain finds, for groups of nodes that are to be clusters, which nodes of other
// groups they compute, too.
func computeAgain(g *graph.Graph, l *levels, groups [][]*graph.Node) (*recomputation, error) {
	r := &recomputation{l: l, uses: make([][]*graph.Node, len(g.Nodes)), waited: make([]bool, len(g.Nodes)), groups: groups,
		of: map[*graph.Node]int{}, gone: map[*graph.Node]bool{}, again: make([]map[*graph.Node]bool, len(groups)), reads: make([]map[graph.Edge]bool, len(groups))}
	for _, n := range g.Nodes {
		for _, e := range n.In {
			r.uses[e.Node.ID] = append(r.uses[e.Node.ID], n)
		}
		for _, c := range n.Control {
			r.waited[c.ID] = true
		}
	}
	for i, nodes := range groups {
		r.note(i, nodes)
	}
	for _, n := range l.order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if _, ok := r.of[n]; ok && l.isCheap(n) {
			r.try(n)
		}
	}
	return r, nil
}

// note notes a group and the edges into it.
func (r *recomputation) note(i int, nodes []*graph.Node) {
	if len(nodes) < 2 {
		return
	}
	r.again[i], r.reads[i] = map[*graph.Node]bool{}, map[graph.Edge]bool{}
	for _, n := range nodes {
		r.of[n] = i
	}
	for _, n := range nodes {
		for _, e := range operands(n, r.l.members[n.ID]) {
			if j, ok := r.of[e.Node]; !ok || j != i {
				r.reads[i][e] = true
			}
		}
	}
}

// isCheap reports whether a node may be computed again. Arithmetic on 16-bit floats
// widens and rounds each element, and columns are too small to matter.
func (l *levels) isCheap(n *graph.Node) bool {
	t := n.OutTypes[0]
	return n.Def.Has(core.Cheap) && len(n.In) <= maxAgain && l.members[n.ID].element != nil && l.width[n.ID] == 0 && t != core.Float16 && t != core.BFloat16 && !t.IsComplex()
}

// try has the groups that read n compute it, if all of them can.
func (r *recomputation) try(n *graph.Node) {
	readers, ok := r.readers(n)
	if !ok || len(readers) == 0 {
		return
	}
	kept, nodes := map[graph.Edge]bool{}, make([]map[*graph.Node]bool, len(readers))
	for k, i := range readers {
		nodes[k] = map[*graph.Node]bool{}
		if !r.closure(n, n, i, nodes[k], kept) || len(r.groups[i])+len(r.again[i])+len(nodes[k]) > maxCluster {
			return
		}
	}
	if len(kept) > 1 {
		return
	}
	r.gone[n] = true
	for k, i := range readers {
		r.compute(i, nodes[k], graph.Edge{Node: n})
	}
}

// readers returns the groups beside its own that read a node, and whether nothing else
// does.
func (r *recomputation) readers(n *graph.Node) (groups []int, only bool) {
	for _, u := range r.uses[n.ID] {
		i, ok := r.of[u]
		switch {
		case ok && i == r.of[n]:
		case !ok || !r.l.fit(n, u):
			return nil, false
		case !slices.Contains(groups, i):
			groups = append(groups, i)
		}
		if len(groups) > maxReaders {
			return nil, false
		}
	}
	return groups, true
}

// closure adds to nodes what group i has to compute for value n, which stands in the
// place of first, and to kept the values in memory that it has to read for that.
func (r *recomputation) closure(n, first *graph.Node, i int, nodes map[*graph.Node]bool, kept map[graph.Edge]bool) bool {
	if r.again[i][n] || nodes[n] {
		return true
	}
	if nodes[n] = true; len(nodes) > maxAgain || !alike(n.OutShape(0), first.OutShape(0)) {
		return false
	}
	for _, e := range n.In {
		switch {
		case r.l.literal[e.Node.ID] || r.reads[i][e] && !r.gone[e.Node]:
		case r.gone[e.Node]:
			if !r.closure(e.Node, first, i, nodes, kept) {
				return false
			}
		case !r.inMemory(e.Node) || e.Type().IsRef():
			return false
		case !r.small(e, first):
			if e.Node.Def.Has(core.ReadsVariable) || e.Type().Size() > first.OutTypes[0].Size() {
				return false // an update in place would have to copy the variable
			}
			kept[e] = true
		}
	}
	return true
}

// inMemory reports whether the value of a node is written by all means.
func (r *recomputation) inMemory(n *graph.Node) bool {
	i, ok := r.of[n]
	return !ok || slices.ContainsFunc(r.uses[n.ID], func(u *graph.Node) bool {
		j, ok := r.of[u]
		return !ok || i != j
	})
}

// small reports whether an operand has far less elements than a result, as far as
// shapes are known.
func (r *recomputation) small(e graph.Edge, result *graph.Node) bool {
	s, t := e.Node.OutShape(e.Out), result.OutShape(0)
	return s != nil && t != nil && 8*knownSize(s) <= knownSize(t)
}

// knownSize is the product of the dimensions that are known.
func knownSize(s core.Shape) int {
	n := 1
	for _, d := range s {
		if d > 0 && n < 1<<40 {
			n *= d
		}
	}
	return n
}

// compute has group i compute nodes in the place of reading e.
func (r *recomputation) compute(i int, nodes map[*graph.Node]bool, e graph.Edge) {
	delete(r.reads[i], e)
	for n := range nodes {
		r.again[i][n] = true
		for _, in := range n.In {
			if !nodes[in.Node] && !r.again[i][in.Node] {
				r.reads[i][in] = true
			}
		}
	}
}

// nodes returns what group i computes, in order: without those of its nodes that only
// other groups need, and with what it computes again.
func (r *recomputation) nodes(i int) (all []*graph.Node) {
	all = slices.Clone(r.groups[i])
	for n := range r.again[i] {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *graph.Node) int { return r.l.place[b.ID] - r.l.place[a.ID] })
	needed := map[*graph.Node]bool{}
	all = slices.DeleteFunc(all, func(n *graph.Node) bool {
		if r.gone[n] && !needed[n] && (r.again[i][n] || !r.waited[n.ID]) {
			return true
		}
		for _, e := range n.In {
			needed[e.Node] = true
		}
		return false
	})
	slices.Reverse(all)
	return all
}
