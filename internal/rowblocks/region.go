package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A region is a set of nodes that compute row by row, or sums over rows.
type region struct {
	*finder
	rows   int           // -1: as many as there are in the step
	anchor *graph.Node   // whose output the region reads
	latest *graph.Node   // what waits for most of nodes
	nodes  []*graph.Node // in an order of the graph
	kinds  map[*graph.Node]kind
	reads  map[*graph.Node][]reading
	// outer are nodes outside that follow from a node within: nothing that reads them, or
	// waits for them, can be within.
	outer map[*graph.Node]bool
	// apart are nodes outside that will not follow from a node within any more (apart.go).
	apart []*graph.Node
	// free are these, and what follows from them but not from the region; minding are those
	// that would have to wait all the same (order.go).
	free    map[*graph.Node]bool
	minding []*graph.Node
	// awaited are nodes outside that the region waits for in the place of groups.
	awaited map[*graph.Node]bool
}

// mostNodes bounds a region.
const mostNodes = 512

// regionFrom returns the region that begins at n, nil if n begins none.
func (f *finder) regionFrom(n *graph.Node) *region {
	s := n.OutShape(0)
	if len(s) == 0 || s[0] == 0 || s[0] == 1 {
		return nil
	}
	r := &region{finder: f, rows: s[0], anchor: n.In[0].Node, kinds: map[*graph.Node]kind{}, reads: map[*graph.Node][]reading{}, outer: map[*graph.Node]bool{}, free: map[*graph.Node]bool{}, awaited: map[*graph.Node]bool{}}
	if k, in := r.rule(n); k != each || !r.takes(n, k, in) {
		return nil
	}
	r.latest = n
	r.add(n, each)
	return r
}

// grow takes in what follows from the first node: also what waits for more, as for labels
// that are fed later than inputs, unless something outside would have to wait for that then.
func (r *region) grow() error {
	if err := r.follow(r.live.OnlyWaitsMore); err != nil {
		return err
	}
	if r.delays() {
		*r = *r.regionFrom(r.nodes[0])
		if err := r.follow(r.live.Together); err != nil {
			return err
		}
	}
	r.absorb()
	return nil
}

// delays reports whether a node outside reads, or waits for, one within and would wait for more
// than now.
func (r *region) delays() bool {
	for _, n := range r.nodes {
		for _, u := range r.uses[n.ID] {
			if !r.has(u) && !r.live.Implies(u, r.latest) {
				return true
			}
		}
	}
	return slices.ContainsFunc(r.minding, func(u *graph.Node) bool { return !r.live.Implies(u, r.latest) })
}

// follow takes in what follows from the first node and may be in one region with the latest one.
func (r *region) follow(may func(n, latest *graph.Node) bool) error {
	first := r.nodes[0]
	for _, n := range r.order[r.place[first.ID]+1:] {
		if !r.follows(n) {
			r.passOn(n)
			continue
		}
		if err := r.g.Budget.Visit(1 + len(n.In)); err != nil {
			return err
		}
		if r.comesApart(n) {
			r.apart, r.free[n] = append(r.apart, n), true
			continue
		}
		if len(r.nodes) < mostNodes && slices.ContainsFunc(n.In, r.inside) && may(n, r.latest) && r.mayWait(n) {
			if k, in := r.rule(n); k != none && r.takes(n, k, in) {
				r.add(n, k)
				r.latest = n
				continue
			}
		}
		r.outer[n] = true
		r.passOn(n)
	}
	return nil
}

// absorb takes in elementwise nodes that only nodes within read: what gradients compute again.
func (r *region) absorb() {
	for i := 0; i < len(r.nodes) && len(r.nodes) < mostNodes; i++ { // the loop appends to r.nodes
		for _, e := range r.nodes[i].In {
			n := e.Node
			if r.dependent(n) || n == r.anchor || !n.Def.Has(core.Elementwise) || !r.live.Together(r.nodes[0], n) || !r.ownsAll(n) {
				continue
			}
			if k, in := r.rule(n); k == each && r.takes(n, k, in) && r.alike(n.OutShape(0)) {
				r.add(n, each)
			}
		}
	}
	slices.SortFunc(r.nodes, func(a, b *graph.Node) int { return r.place[a.ID] - r.place[b.ID] })
}

// ownsAll reports whether nothing outside needs n and nothing within needs more of it than its
// block of rows, and n waits for nothing that follows from the region.
func (r *region) ownsAll(n *graph.Node) bool {
	others := slices.ContainsFunc(r.uses[n.ID], func(u *graph.Node) bool { return !r.has(u) || r.readsWhole(u, n) })
	return !others && r.mayWait(n)
}

// readsWhole reports whether u, a node within, reads all of n for each block of rows.
func (r *region) readsWhole(u, n *graph.Node) bool {
	for k, e := range u.In {
		if e.Node == n && r.reads[u][k] == whole {
			return true
		}
	}
	return false
}

func (r *region) add(n *graph.Node, k kind) {
	r.nodes, r.kinds[n] = append(r.nodes, n), k
}

func (r *region) has(n *graph.Node) bool       { return r.kinds[n] != none }
func (r *region) isSum(e graph.Edge) bool      { return r.kinds[e.Node] == sum }
func (r *region) inside(e graph.Edge) bool     { return r.has(e.Node) }
func (r *region) dependent(n *graph.Node) bool { return r.has(n) || r.outer[n] }

// follows reports whether n depends on the region.
func (r *region) follows(n *graph.Node) bool {
	return slices.ContainsFunc(n.Control, r.dependent) || slices.ContainsFunc(n.In, func(e graph.Edge) bool { return r.dependent(e.Node) })
}

// mayWait reports whether what n waits for is within, or does not follow from what is. Groups
// of gradients that all are within count as these.
func (r *region) mayWait(n *graph.Node) bool {
	return !slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return r.outer[c] && !r.isGroup(c) })
}

// isGroup reports whether n does nothing but wait for what is within, or does not follow from it.
func (r *region) isGroup(n *graph.Node) bool {
	return n.Role() == core.Computes && len(n.In) == 0 && len(n.OutTypes) == 0 && !n.Def.Stateful && !slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return r.outer[c] })
}

// takes reports whether n reads rows of as many as the region has, gives as many, and reads
// nothing from outside that follows from the region. It notes how n reads.
func (r *region) takes(n *graph.Node, k kind, in []reading) bool {
	if _, ok := core.AsCompute(r.kernel(n)); !ok {
		return false
	}
	for i, e := range n.In {
		if r.inside(e) {
			continue
		}
		if s := e.Node.OutShape(e.Out); !r.from(e.Node) || in[i] == rows && s != nil && !r.alike(s) {
			return false
		}
	}
	for o := range n.OutTypes {
		if s := n.OutShape(o); k != sum && !r.alike(s) {
			return false
		}
	}
	r.reads[n] = in
	return true
}

// from reports whether the region may read n. A constant is there from the beginning, whatever
// it waits for.
func (r *region) from(n *graph.Node) bool { return !r.outer[n] || n.Role() == core.Constant }

// alike reports whether a shape may have as many rows as the region.
func (r *region) alike(s core.Shape) bool { return len(s) > 0 && (s[0] == r.rows || s[0] < 0) }

// leaves reports whether a value is read outside.
func (r *region) leaves(n *graph.Node, out int) bool {
	for _, u := range r.uses[n.ID] {
		if !r.has(u) && slices.Contains(u.In, graph.Edge{Node: n, Out: out}) {
			return true
		}
	}
	return false
}
