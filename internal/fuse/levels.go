package fuse

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/liveness"
	"github.com/gorge-tf/gorge/tf/core"
)

// levels sorts nodes into levels, so that nodes of one level that are joined by edges
// between them can become one. An edge leads to the same level or to a higher one:
// to the same one only between nodes that may be fused, or from one that may not be.
// A path that leaves a cluster therefore never comes back.
type levels struct {
	order   []*graph.Node
	place   []int     // by node ID: where it is in order
	members []*member // by node ID: nil if it can be in no cluster
	literal []bool    // by node ID: a constant of one element, which clusters take in
	width   []int     // by node ID: of the rows that gave a column, 0 if it is none
	flow    *liveness.Sets
	of      []int   // by node ID
	after   [][]dep // by node ID: what the node depends on
	uses    [][]dep // by node ID: what depends on the node
	cluster []int32 // by node ID: union-find
}

// dep is a node that another one depends on, or that depends on it.
type dep struct {
	id    int32
	joins bool // the two may be in one cluster
}

func newLevels(order []*graph.Node, members []*member, f *liveness.Sets) *levels {
	l := &levels{order: order, place: make([]int, len(order)), members: members, literal: make([]bool, len(order)), width: make([]int, len(order)), flow: f,
		of: make([]int, len(order)), after: make([][]dep, len(order)), uses: make([][]dep, len(order)), cluster: make([]int32, len(order))}
	for i, n := range order {
		l.place[n.ID], l.cluster[n.ID] = i, int32(n.ID)
		l.literal[n.ID] = isLiteral(n)
	}
	for _, n := range order {
		l.width[n.ID] = l.widthOf(n)
		l.find(n)
	}
	return l
}

// join joins the nodes of a level that may be in one cluster.
func (l *levels) join() {
	l.raise()
	for _, n := range l.order {
		for _, d := range l.after[n.ID] {
			if d.joins && l.of[d.id] == l.of[n.ID] {
				l.cluster[l.root(d.id)] = l.root(int32(n.ID))
			}
		}
	}
}

// passLoops puts what leaves a loop to the level of all that enters it, or higher: the order
// leaves out that it depends on that, from one iteration to the next. Each round gets
// past one loop more at least, unless what enters a loop depends on what leaves it: then it
// reports false.
func (l *levels) passLoops(g *graph.Graph) (ok bool, err error) {
	frames, err := g.Frames(l.order)
	if err != nil {
		return false, err
	}
	entry := make([]int, len(frames.List)) // by loop: the highest level of what enters it
	for range len(frames.List) + 1 {
		changed := false
		for _, n := range l.order {
			if err := g.Budget.Visit(1); err != nil {
				return false, err
			}
			at := l.lowest(n)
			if n.Role() == core.Exits {
				at = max(at, entry[frames.Of[n.ID]])
			}
			changed = changed || at > l.of[n.ID]
			if l.of[n.ID] = at; n.Role() == core.Enters {
				to := &entry[frames.Out[n.ID]]
				changed = changed || at > *to
				*to = max(*to, at)
			}
		}
		if !changed {
			return true, nil
		}
	}
	return false, nil
}

// lowest returns the lowest level that n can have.
func (l *levels) lowest(n *graph.Node) int {
	at := l.of[n.ID]
	for _, d := range l.after[n.ID] {
		at = max(at, l.of[d.id]+l.distance(int(d.id), d.joins))
	}
	return at
}

// isLiteral reports whether n is a constant that clusters take in: they do not wait
// for it, but for what it waits for.
func isLiteral(n *graph.Node) bool {
	t := n.TensorAttr("value")
	return n.Role() == core.Constant && t != nil && t.Len() == 1 && t.DType().Size() > 0 && t.Buffer() != nil && t.Addressable()
}

// find notes what n depends on, and its lowest level.
func (l *levels) find(n *graph.Node) {
	for k, e := range n.In {
		if e.Node.Role() == core.Repeats && n.Role() == core.Merges {
			continue
		}
		if m := l.members[n.ID]; m != nil && (l.literal[e.Node.ID] || m.fold != nil && k == 1) {
			for _, c := range e.Node.Control {
				l.depend(n, c)
			}
			continue
		}
		l.depend(n, e.Node)
	}
	for _, c := range n.Control {
		l.depend(n, c)
	}
}

func (l *levels) depend(n, on *graph.Node) {
	d := dep{int32(on.ID), l.mayJoin(on, n)}
	l.after[n.ID] = append(l.after[n.ID], d)
	l.uses[on.ID] = append(l.uses[on.ID], dep{int32(n.ID), d.joins})
	l.of[n.ID] = max(l.of[n.ID], l.of[on.ID]+l.distance(on.ID, d.joins))
}

// distance is by how much the level of what depends on a node has to be higher.
func (l *levels) distance(on int, joins bool) int {
	if l.members[on] == nil || joins {
		return 0
	}
	return 1
}

// mayJoin reports whether two nodes may be in one cluster, if no path between them
// leads outside.
func (l *levels) mayJoin(a, b *graph.Node) bool { return l.apart(a, b) == together }

// A reason says why a node and one that depends on it are not to be in one cluster.
type reason uint8

const (
	together reason = iota // they may be
	firstIsNone
	secondIsNone
	otherLoop
	badLoop
	otherFlow
	otherShape
)

func (l *levels) apart(a, b *graph.Node) reason {
	f := l.flow
	switch {
	case l.members[a.ID] == nil:
		return firstIsNone
	case l.members[b.ID] == nil:
		return secondIsNone
	case f.Frame(a) != f.Frame(b):
		return otherLoop
	case f.Bad(a):
		return badLoop
	case f.Of(a) != f.Of(b):
		return otherFlow
	case !l.fit(a, b):
		return otherShape
	}
	return together
}

// alike reports whether shapes may be equal, as far as they are known. A small result
// that is broadcast is no part of a cluster: it would wait for all that the cluster
// waits for.
func alike(s, t core.Shape) bool {
	if s == nil || t == nil {
		return true
	}
	if len(s) != len(t) {
		return false
	}
	for i, d := range s {
		if d >= 0 && t[i] >= 0 && d != t[i] {
			return false
		}
	}
	return true
}

// raise puts nodes to the level of what they are used by, where they can join that:
// they run as late as they may.
func (l *levels) raise() {
	for i := len(l.order) - 1; i >= 0; i-- {
		id := l.order[i].ID
		if l.members[id] == nil || len(l.uses[id]) == 0 {
			continue
		}
		if to := l.highest(id); to > l.of[id] {
			l.of[id] = to
		}
	}
}

// highest returns the level that node id can have, if it joins another one there.
func (l *levels) highest(id int) int {
	to, joined := -1, -1
	for _, u := range l.uses[id] {
		at := l.of[u.id] - l.distance(id, u.joins)
		if to < 0 || at < to {
			to = at
		}
		if u.joins && at > joined {
			joined = at
		}
	}
	if joined < to {
		return -1
	}
	return to
}

// root returns the node that stands for the cluster of another.
func (l *levels) root(id int32) int32 {
	for l.cluster[id] != id {
		l.cluster[id] = l.cluster[l.cluster[id]]
		id = l.cluster[id]
	}
	return id
}

// groups returns the clusters of more than one node, each in order.
func (l *levels) groups() (all [][]*graph.Node) {
	at := map[int32]int{}
	for _, n := range l.order {
		if l.members[n.ID] == nil {
			continue
		}
		r := l.root(int32(n.ID))
		i, ok := at[r]
		if !ok || len(all[i]) == maxCluster {
			i, at[r] = len(all), len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], n)
	}
	return all
}
