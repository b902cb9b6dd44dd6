package recompute

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/liveness"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// Hint is the attribute by which programs mark nodes that are to be computed again.
const Hint = "_recompute_hint"

// Mode says which values are computed again.
type Mode uint8

const (
	Hinted     Mode = iota // those of nodes with attribute Hint
	Heuristics             // also those that are cheap
)

// Options say what is computed again, and for whom.
type Options struct {
	Mode  Mode
	Scope string // the name scope of gradients; "gradients/" if empty
}

// Rewrite makes the gradients in g, the part of one device, read copies of the values that
// are to be computed again. waits tells the nodes that may wait for what others do.
func Rewrite(g *graph.Graph, o Options, waits func(*graph.Node) bool) (err error) {
	defer core.Recover(&err, "the recomputation of values")
	o.Scope = cmp.Or(o.Scope, "gradients/")
	if o.Mode == Hinted && !slices.ContainsFunc(g.Nodes, isHinted) || !slices.ContainsFunc(g.Nodes, o.isGradient) {
		return nil
	}
	r, err := newRewriter(g, o, waits)
	if err != nil {
		return err
	}
	if err := r.segments(); err != nil {
		return err
	}
	if o.Mode == Heuristics {
		if err := r.cheap(); err != nil {
			return err
		}
	}
	if len(r.copies) == 0 {
		return nil
	}
	if err := pass.Check(g); err != nil {
		return core.Errorf(core.Internal, "pass %s (it can be disabled) failed: %s", pass.Recomputation, core.AsError(err).Message())
	}
	return nil
}

func isHinted(n *graph.Node) bool { _, ok := n.Attrs[Hint]; return ok }

// isGradient reports whether a node is in the scope of gradients, wherever that is.
func (o *Options) isGradient(n *graph.Node) bool {
	return strings.HasPrefix(n.Name, o.Scope) || strings.Contains(n.Name, "/"+o.Scope)
}

// A rewriter knows of a graph, as it was in the beginning, what it takes to decide.
type rewriter struct {
	Options
	g        *graph.Graph
	order    []*graph.Node
	place    []int // by node ID: where it is in order
	uses     [][]*graph.Node
	live     *liveness.Sets
	gradient []bool                      // by node ID
	needed   []bool                      // by node ID: gradients read output 0
	gone     map[*graph.Node]bool        // gradients read copies of it
	copies   map[*graph.Node]*graph.Node // what each copy is one of
}

func newRewriter(g *graph.Graph, o Options, waits func(*graph.Node) bool) (*rewriter, error) {
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	live, err := liveness.Find(g, order, waits)
	if err != nil {
		return nil, err
	}
	r := &rewriter{Options: o, g: g, order: order, place: make([]int, len(order)), uses: g.Uses(), live: live,
		gradient: make([]bool, len(order)), needed: make([]bool, len(order)), gone: map[*graph.Node]bool{}, copies: map[*graph.Node]*graph.Node{}}
	for i, n := range order {
		r.place[n.ID], r.gradient[n.ID] = i, o.isGradient(n)
		for _, e := range n.In {
			r.needed[e.Node.ID] = r.needed[e.Node.ID] || r.gradient[n.ID] && e.Out == 0
		}
	}
	return r, nil
}

// pure reports whether n computes nothing but values, and the same ones again.
func (r *rewriter) pure(n *graph.Node) bool {
	switch role := n.Role(); {
	case r.gradient[n.ID] || role == core.Constant || role.DirectsFlow() || len(n.OutTypes) == 0:
		return false
	case n.Def.Stateful || n.Def.Has(core.SaysItsName|core.ReadsVariable|core.HoldsVariable) || n.Def.Composes || strings.HasPrefix(n.OpName(), "Placeholder"):
		return false
	}
	return !slices.ContainsFunc(n.InTypes, core.DType.IsRef) && !slices.ContainsFunc(n.OutTypes, core.DType.IsRef)
}

// late returns the gradients that read what is wanted of n. ok says that they may read a
// copy: they run in the same loop, and none is part of the forward pass all the same, as
// those are that put the values of a loop's iterations on stacks.
func (r *rewriter) late(n *graph.Node, wanted func(graph.Edge) bool) (out []*graph.Node, ok bool) {
	for _, u := range r.uses[n.ID] {
		if !r.gradient[u.ID] || !reads(u, n, wanted) {
			continue
		}
		if u.Def.Stateful || r.live.Frame(u) != r.live.Frame(n) {
			return nil, false
		}
		out = append(out, u)
	}
	return out, len(out) > 0
}

// reads reports whether u has what is wanted of n as an input.
func reads(u, n *graph.Node, wanted func(graph.Edge) bool) bool {
	return slices.ContainsFunc(u.In, func(e graph.Edge) bool { return e.Node == n && wanted(e) })
}

func anyOutput(graph.Edge) bool     { return true }
func firstOutput(e graph.Edge) bool { return e.Out == 0 }

// triggers returns what copies that readers are to read have to wait for: the gradients
// that the first of readers needs or waits for beside them. nil: there is none that all
// may wait for.
func (r *rewriter) triggers(readers []*graph.Node) (out []*graph.Node) {
	first := slices.MinFunc(readers, func(a, b *graph.Node) int { return r.place[a.ID] - r.place[b.ID] })
	for _, t := range r.before(first) {
		if r.isLate(t) && !slices.Contains(out, t) && !slices.ContainsFunc(readers, func(u *graph.Node) bool { return !r.live.Implies(u, t) }) {
			out = append(out, t)
		}
	}
	return out
}

// before returns what n reads and waits for. Constants of gradients wait for what these
// are computed from, as the factor of x does in the gradient of its square.
func (r *rewriter) before(n *graph.Node) (out []*graph.Node) {
	out = slices.Clone(n.Control)
	for _, e := range n.In {
		if out = append(out, e.Node); e.Node.Role() == core.Constant {
			out = append(out, e.Node.Control...)
		}
	}
	return out
}

// isLate reports whether n is a gradient that is computed, and not constant. Copies are
// none: the graph has them since the beginning.
func (r *rewriter) isLate(n *graph.Node) bool {
	return n.ID < len(r.gradient) && r.gradient[n.ID] && n.Role() != core.Constant && len(n.In) > 0
}

// A copier makes the copies for some readers.
type copier struct {
	*rewriter
	triggers []*graph.Node
	of       map[*graph.Node]*graph.Node
	wanted   func(graph.Edge) bool                        // which outputs are computed again
	again    func(*graph.Node) bool                       // which nodes are
	copied   func(*graph.Node) (core.Attrs, []graph.Edge) // the attributes and inputs of a copy
}

// copyOf returns the copy of n.
func (c *copier) copyOf(n *graph.Node) (*graph.Node, error) {
	if m := c.of[n]; m != nil {
		return m, nil
	}
	m := &graph.Node{Node: n.Node, Shapes: n.Shapes}
	m.Attrs, m.In = c.copied(n)
	waits := true
	for k, e := range m.In {
		if !c.again(e.Node) || !c.wanted(e) {
			continue
		}
		from, err := c.copyOf(e.Node)
		if err != nil {
			return nil, err
		}
		m.In[k].Node, waits = from, false
	}
	m.AddControls(n.Control...)
	if waits {
		m.AddControls(c.triggers...)
	}
	m.Name = c.g.Unused("Recomputed/" + n.Name) // after those of its inputs, which may have the same
	c.of[n], c.copies[m] = m, n
	return m, c.g.Add(m)
}

// asBefore returns the attributes and inputs of n for a copy that computes all of it.
func asBefore(n *graph.Node) (core.Attrs, []graph.Edge) {
	return without(n.Attrs, Hint), slices.Clone(n.In)
}

func without(attrs core.Attrs, key string) core.Attrs {
	out := maps.Clone(attrs)
	delete(out, key)
	return out
}

// redirect makes the gradients that read n read its copy.
func (c *copier) redirect(n *graph.Node) error {
	m, err := c.copyOf(n)
	if err != nil {
		return err
	}
	readers, _ := c.late(n, c.wanted)
	for _, u := range readers {
		for k, e := range u.In {
			if e.Node == n && c.wanted(e) {
				u.In[k].Node = m
			}
		}
	}
	c.gone[n] = true
	return nil
}
