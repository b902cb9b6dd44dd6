package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/liveness"
	"github.com/gorge-tf/gorge/tf/core"
)

// Where a node takes the place of a product in a group of gradients, all that waits for the group
// waits for what else the node needs. That has to be there whenever the group is: what comes from
// another device may follow from a gradient that waits for the group, and what a branch gives
// may be dead.

// A standIns decides which nodes may do so. It looks at the graph when it is asked first: a node
// that has taken such a place since needs nothing that stood behind the group.
type standIns struct {
	g        *graph.Graph
	kernelOf func(*graph.Node) core.Kernel
	live     *liveness.Sets
	place    []int // by node ID
}

func (s *standIns) look() error {
	if s.live != nil {
		return nil
	}
	order, err := s.g.Sorted()
	if err != nil {
		return err
	}
	s.place = make([]int, len(order))
	for i, n := range order {
		s.place[n.ID] = i
	}
	s.live, err = liveness.Find(s.g, order, func(n *graph.Node) bool {
		if n.Role() == core.Constant {
			return false
		}
		_, ok := core.AsCompute(s.kernelOf(n))
		return !ok
	})
	return err
}

// gives reports whether group may wait for all of some outputs and nodes.
func (s *standIns) gives(group *graph.Node, in []graph.Edge, waits []*graph.Node) (bool, error) {
	if err := s.look(); err != nil {
		return false, err
	}
	late := func(n *graph.Node) bool { return s.place[n.ID] > s.place[group.ID] }
	return !slices.ContainsFunc(in, func(e graph.Edge) bool { return late(e.Node) || !s.live.Gives(group, e) }) &&
		!slices.ContainsFunc(waits, func(c *graph.Node) bool { return late(c) || !s.live.Implies(group, c) }), nil
}

// mayAdd reports whether n, which adds x to a product of group, may stand for that.
func (s *standIns) mayAdd(n, group *graph.Node, x graph.Edge) (bool, error) {
	if ok, err := s.begins(group, x); err != nil || !ok {
		return false, err
	}
	return s.gives(group, nil, n.Control)
}

// begins reports whether x is the variable of a loop, which is there when an iteration begins, and
// alive whenever group is.
func (s *standIns) begins(group *graph.Node, x graph.Edge) (bool, error) {
	if !isLoopVariable(x) {
		return false, nil
	}
	if err := s.look(); err != nil {
		return false, err
	}
	return s.place[x.Node.ID] < s.place[group.ID] && s.live.LivesWith(group, x), nil
}

// isLoopVariable reports whether x is what an iteration of a loop has of one.
func isLoopVariable(x graph.Edge) bool {
	n := x.Node
	if !n.Chooses() || x.Out != 1 || n.In[1].Node.Role() != core.Continues {
		return false
	}
	m := n.In[0].Node
	return m.Role() == core.Merges && slices.ContainsFunc(m.In, func(e graph.Edge) bool { return e.Node.Role() == core.Repeats })
}
