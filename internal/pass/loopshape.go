package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A loop's variable has a shape if the value that enters has it, and the body makes of
// values of such shapes a next one of the same shape. The shapes of all variables of a
// graph are found together: each is assumed to be that of the value that enters, all that
// follows is inferred, and what an iteration contradicts is assumed no more, until
// nothing is contradicted. By induction over iterations what is left holds in all of them.

// maxShapeRounds bounds how often assumptions are given up. Variables that hand their
// values on to each other take one round each.
const maxShapeRounds = 16

// loopShapes are the shapes of a graph with loops under inference.
type loopShapes struct {
	*editor
	open    []*graph.Node                // whose shapes are not all known
	known   map[*graph.Node][]core.Shape // what open nodes came with, which holds
	assumed map[*graph.Node]core.Shape   // by Merge of a variable
}

// inferLoops infers the shapes of a graph that has variables of loops, vars.
func inferLoops(e *editor, order, vars []*graph.Node) error {
	f := &loopShapes{editor: e, known: map[*graph.Node][]core.Shape{}, assumed: map[*graph.Node]core.Shape{}}
	for _, n := range order {
		if !allKnown(n) {
			f.open = append(f.open, n)
			f.known[n] = n.Shapes
		}
	}
	for _, m := range vars {
		f.assumed[m] = nil
	}
	for round := range maxShapeRounds {
		if err := f.sweep(round == 0); err != nil {
			return err
		}
		if f.holds(vars) {
			return nil
		}
	}
	for _, n := range f.open {
		n.Shapes = f.known[n]
	}
	return inferAll(e, f.open)
}

// sweep infers all shapes from the assumptions, which the first sweep makes.
func (f *loopShapes) sweep(first bool) error {
	for _, n := range f.open {
		if err := f.Budget.Visit(1); err != nil {
			return err
		}
		n.Shapes = f.known[n]
		switch _, ok := f.assumed[n]; {
		case ok:
			if first {
				f.assumed[n] = entering(n)
			}
			f.assume(n)
		case n.Role() == core.Enters:
			enterWith(n)
		default:
			refineShapes(n)
		}
	}
	return nil
}

// enterWith gives what enters a loop the shape that it has outside. The op's own function
// does not: graphs are built before it is known what the body does.
func enterWith(n *graph.Node) {
	s, ok := n.OutShape(0).Merge(n.In[0].Node.OutShape(n.In[0].Out))
	if !ok {
		s = n.OutShape(0)
	}
	n.Shapes = []core.Shape{s}
}

// entering returns the shape of what enters a loop as the value of a variable.
func entering(m *graph.Node) core.Shape {
	for _, x := range m.In {
		if x.Node.Role() != core.Repeats {
			return x.Node.OutShape(x.Out)
		}
	}
	return nil
}

// assume gives a variable the shape that is assumed, and what else is known of it.
func (f *loopShapes) assume(m *graph.Node) {
	s, ok := m.OutShape(0).Merge(f.assumed[m])
	if !ok {
		s = m.OutShape(0)
	}
	m.Shapes = []core.Shape{s, {}}
}

// holds gives up what the shapes of next values contradict, and reports whether nothing
// was.
func (f *loopShapes) holds(vars []*graph.Node) bool {
	all := true
	for _, m := range vars {
		s := m.OutShape(0)
		for _, x := range m.In {
			s = common(s, x.Node.OutShape(x.Out))
		}
		if !s.Equal(m.OutShape(0)) {
			f.assumed[m], all = s, false
		}
	}
	return all
}

// common returns the shape of which both s and t are cases.
func common(s, t core.Shape) core.Shape {
	if s == nil || t == nil || len(s) != len(t) {
		return nil
	}
	s = s.Clone()
	for i := range s {
		if s[i] != t[i] {
			s[i] = -1
		}
	}
	return s
}

// loopVariables returns the Merges of variables whose shapes are not known.
func loopVariables(order []*graph.Node) (vars []*graph.Node) {
	for _, n := range order {
		if n.Role() == core.Merges && !allKnown(n) && slices.ContainsFunc(n.In, func(x graph.Edge) bool { return x.Node.Role() == core.Repeats }) {
			vars = append(vars, n)
		}
	}
	return vars
}
