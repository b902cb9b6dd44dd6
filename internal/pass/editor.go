package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// editor is a graph that is being optimized.
type editor struct {
	*graph.Graph
	Options
	roots  map[*graph.Node]bool            // what the graph is run for, never removed
	folded func(norm, weights *graph.Node) // told of norms that were folded; may be nil
}

func newEditor(g *graph.Graph, o Options) *editor {
	e := &editor{Graph: g, Options: o, roots: map[*graph.Node]bool{}}
	if e.MaxFolded == 0 {
		e.MaxFolded = maxFolded
	}
	g.Renumber()
	for i, users := range g.Uses() {
		if n := g.Nodes[i]; len(users) == 0 || hasEffects(n) || n.Bool(targetAttr) || o.Preserve[n.Name] {
			e.roots[n] = true
		}
	}
	// A loop that leads nowhere is there for what was asked for within it.
	for needed, i := e.needed(), 0; i < len(g.Nodes); i++ {
		if n := g.Nodes[i]; !needed[n.ID] {
			e.roots[n] = true
		}
	}
	return e
}

// hasEffects reports whether n does more than to compute values. Ops that
// change a variable by reference are not declared stateful.
func hasEffects(n *graph.Node) bool {
	return n.Def.Stateful && !n.Def.Has(core.Droppable) || slices.ContainsFunc(n.InTypes, core.DType.IsRef)
}

// check is Check for a placed graph that must still have its roots.
func (e *editor) check() error {
	for n := range e.roots {
		if e.Node(n.Name) != n {
			return core.Errorf(core.Internal, "node %s must be kept", n.Name)
		}
	}
	if err := CheckPlaced(e.Graph); err != nil {
		return err
	}
	return Check(e.Graph)
}

// sweep removes the nodes on which no root depends.
func (e *editor) sweep() {
	needed := e.needed()
	e.Keep(func(n *graph.Node) bool { return needed[n.ID] })
}

// needed tells, by ID, the roots and what they depend on.
func (e *editor) needed() []bool {
	e.Renumber()
	needed := make([]bool, len(e.Nodes))
	var todo []*graph.Node
	need := func(n *graph.Node) {
		if !needed[n.ID] {
			needed[n.ID] = true
			todo = append(todo, n)
		}
	}
	for n := range e.roots {
		need(n)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range n.In {
			need(x.Node)
		}
		for _, c := range n.Control {
			need(c)
		}
	}
	return needed
}

// replace makes all that use n use other nodes: with, by output, where that is
// set. They come after what after lists instead of after n.
func replace(users []*graph.Node, n *graph.Node, with []graph.Edge, after []*graph.Node) {
	for _, u := range users {
		for k, x := range u.In {
			if x.Node == n && with[x.Out].Node != nil {
				u.In[k] = with[x.Out]
			}
		}
		if i := slices.Index(u.Control, n); i >= 0 && after != nil {
			u.Control = slices.Delete(u.Control, i, i+1)
			for _, c := range after {
				u.AddControl(c)
			}
		}
	}
}

// chooses tells the roles of ops that run and yet may leave an output dead. What
// waits for such a node does not wait for one of its outputs.
func chooses(n *graph.Node) bool { return n.Role() == core.Switches || n.Role() == core.Receives }

// hasRef reports whether n takes or makes references.
func hasRef(n *graph.Node) bool {
	return slices.ContainsFunc(n.InTypes, core.DType.IsRef) || slices.ContainsFunc(n.OutTypes, core.DType.IsRef) ||
		slices.ContainsFunc(n.In, func(x graph.Edge) bool { return x.Type().IsRef() })
}
