package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A column has one element for each row: what a reduction gives, and what is computed
// from such results element by element. A cluster handles rows one after another, and
// so a column may be in one cluster with what it is computed from, and with what it is
// broadcast to if that has rows of the same width.

// widthOf returns the width of the rows that a node's column belongs to, 0 if its
// result is none. Those of what the node depends on are known.
func (l *levels) widthOf(n *graph.Node) int {
	m := l.members[n.ID]
	switch {
	case m == nil || m.fold != nil && m.fold.wide:
		return 0
	case m.fold != nil:
		return m.fold.width
	}
	for _, e := range n.In {
		if w := l.width[e.Node.ID]; w > 0 && equalShapes(e.Node.OutShape(0), n.OutShape(0)) {
			return w
		}
	}
	return 0
}

func equalShapes(s, t core.Shape) bool { return s != nil && t != nil && slices.Equal(s, t) }

// fit reports whether the results of two nodes, of which the second one reads the
// first, may be in one cluster by their shapes.
func (l *levels) fit(a, b *graph.Node) bool {
	s, t := a.OutShape(0), b.OutShape(0)
	switch from, to := l.width[a.ID], l.width[b.ID]; {
	case l.members[b.ID].fold != nil:
		return from == 0
	case from == to:
		return alike(s, t)
	case from == 0:
		return equalShapes(s, t)
	case to == 0:
		return spreads(s, t, from)
	}
	return false
}

// spreads reports whether a column is broadcast to rows of this width.
func spreads(column, to core.Shape, width int) bool {
	if column == nil || len(column) != len(to) {
		return false
	}
	n := 1
	for i := len(to) - 1; i >= 0 && column[i] == 1 && to[i] > 0; i-- {
		if n *= to[i]; n == width && slices.Equal(column[:i], to[:i]) {
			return true
		}
	}
	return false
}
