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
	Blocks                 // the same, after what package rowblocks does
)

// Options say which values are computed again, and which nodes are gradients.
type Options struct {
	Mode  Mode
	Scope string // the name scope of gradients; "gradients/" if empty
}

// Rewrite makes the gradients in g, the part of one device, read copies of the values that
// are to be computed again. waits tells the nodes that may wait for what others do.
func Rewrite(g *graph.Graph, o Options, waits func(*graph.Node) bool) (err error) {
	defer core.Recover(&err, "the recomputation of values")
	o.Scope = cmp.Or(strings.TrimSuffix(o.Scope, "/"), "gradients")
	if o.Mode == Hinted && !slices.ContainsFunc(g.Nodes, isHinted) || !slices.ContainsFunc(g.Nodes, o.isGradient) {
		return nil
	}
	if o.Mode >= Heuristics {
		readShapesElsewhere(g)
	}
	r, err := newRewriter(g, o, waits)
	if err != nil {
		return err
	}
	if err := r.segments(); err != nil {
		return err
	}
	if o.Mode >= Heuristics {
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

// readShapesElsewhere has nodes that read the shape of a value only read it of another one,
// which they need anyway. As the shapes are known to be equal, no error changes; and as the
// value comes from what the nodes read as well, they are alive as before, and wait for all
// that has effects.
func readShapesElsewhere(g *graph.Graph) {
	for _, n := range g.Nodes {
		for i, k := range n.Def.ShapeAt {
			from, to := n.In[i], n.In[k]
			if from.Type() == to.Type() && sameShape(from.Node.OutShape(from.Out), to.Node.OutShape(to.Out)) && readsWith(from.Node, n) {
				n.In[i] = to
			}
		}
	}
}

// sameShape reports whether a and b are known to be equal.
func sameShape(a, b core.Shape) bool {
	return a != nil && a.Equal(b) && !slices.ContainsFunc(a, func(d int) bool { return d < 0 })
}

// readsWith reports whether m, which n reads, has no effects and reads nothing, and waits
// for nothing, but what n reads itself.
func readsWith(m, n *graph.Node) bool {
	apart := func(e graph.Edge) bool { return !slices.Contains(n.In, e) }
	return !m.Def.Stateful && !m.Role().DirectsFlow() && len(m.In) > 0 && len(m.Control) == 0 && !slices.ContainsFunc(m.In, apart)
}

func isHinted(n *graph.Node) bool { _, ok := n.Attrs[Hint]; return ok }

// isGradient reports whether a node is in the scope of gradients, wherever that is, or in
// one that has got a number, as the scopes of a program's second optimizer.
func (o *Options) isGradient(n *graph.Node) bool {
	for rest := n.Name; ; {
		if after, ok := strings.CutPrefix(rest, o.Scope); ok && isNumber(after) {
			return true
		}
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return false
		}
		rest = after
	}
}

// isNumber reports whether the rest of a scope's name is "/" or a number and that.
func isNumber(rest string) bool {
	if number, ok := strings.CutPrefix(rest, "_"); ok {
		rest = strings.TrimLeft(number, "0123456789")
	}
	return strings.HasPrefix(rest, "/")
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

// pure reports whether n computes nothing but values, and the same ones again. Strings and
// resources may be handles of what others change, and references are variables.
func (r *rewriter) pure(n *graph.Node) bool {
	switch role := n.Role(); {
	case r.gradient[n.ID] || role == core.Constant || role.DirectsFlow() || len(n.OutTypes) == 0:
		return false
	case n.Def.Stateful || n.Def.Has(core.SaysItsName|core.ReadsVariable|core.HoldsVariable) || n.Def.Composes || strings.HasPrefix(n.OpName(), "Placeholder"):
		return false
	}
	handle := func(t core.DType) bool { return t.IsRef() || t == core.String || t == core.Resource }
	return !slices.ContainsFunc(n.OutTypes, handle) && !slices.ContainsFunc(n.In, func(e graph.Edge) bool { return handle(e.Type()) })
}

// readers calls f for each node that reads what is wanted of n, until f returns false.
func (r *rewriter) readers(n *graph.Node, wanted func(graph.Edge) bool, f func(u *graph.Node) bool) {
	var last *graph.Node
	for _, u := range r.uses[n.ID] {
		if u == last { // which has n as an input more than once
			continue
		}
		last = u
		if slices.ContainsFunc(u.In, func(e graph.Edge) bool { return e.Node == n && wanted(e) }) && !f(u) {
			return
		}
	}
}

// late returns the gradients that read what is wanted of n and that the backward pass
// comes to later. ok says that they may read a copy: others read n, so that it was computed
// before; they run in the same loop, and none is part of the forward pass all the same, as
// those are that put the values of a loop's iterations on stacks.
func (r *rewriter) late(n *graph.Node, wanted func(graph.Edge) bool) (out []*graph.Node, ok bool) {
	others := false
	ok = true
	r.readers(n, wanted, func(u *graph.Node) bool {
		switch {
		case !r.gradient[u.ID]:
			others = true
		case slices.ContainsFunc(r.before(u), r.isLate):
			out, ok = append(out, u), !u.Def.Stateful && r.live.Frame(u) == r.live.Frame(n)
		}
		return ok
	})
	return out, ok && others && len(out) > 0
}

func anyOutput(graph.Edge) bool     { return true }
func firstOutput(e graph.Edge) bool { return e.Out == 0 }

// maxTriggers bounds what a copy waits for: each of many that begin a segment waits for all.
const maxTriggers = 4

// triggers returns what copies that readers are to read have to wait for: of the gradients
// that the first of readers needs or waits for beside them those that come last. nil: there
// is none that all may wait for.
func (r *rewriter) triggers(readers []*graph.Node) []*graph.Node {
	first := slices.MinFunc(readers, func(a, b *graph.Node) int { return r.place[a.ID] - r.place[b.ID] })
	out := slices.DeleteFunc(r.before(first), func(t *graph.Node) bool { return !r.isLate(t) })
	slices.SortFunc(out, func(a, b *graph.Node) int { return r.place[b.ID] - r.place[a.ID] })
	out = slices.Compact(out)
	out = out[:min(len(out), maxTriggers)]
	return slices.DeleteFunc(out, func(t *graph.Node) bool {
		return slices.ContainsFunc(readers, func(u *graph.Node) bool { return !r.live.Implies(u, t) })
	})
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
	again    map[*graph.Node]bool                         // which nodes are
	copied   func(*graph.Node) (core.Attrs, []graph.Edge) // the attributes and inputs of a copy
}

// replace makes the gradients that read nodes read copies of them.
func (c *copier) replace(nodes []*graph.Node) error {
	c.of = map[*graph.Node]*graph.Node{}
	for _, n := range c.needed(nodes) {
		if err := c.g.Budget.Visit(1 + len(n.In)); err != nil {
			return err
		}
		if err := c.add(n); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		c.redirect(n)
	}
	return nil
}

// needed returns what has to be computed again for nodes, in order.
func (c *copier) needed(nodes []*graph.Node) []*graph.Node {
	seen, out := set(nodes), slices.Clone(nodes)
	for i := 0; i < len(out); i++ { // the loop appends to out
		_, in := c.copied(out[i])
		for _, e := range in {
			if c.again[e.Node] && c.wanted(e) && !seen[e.Node] {
				seen[e.Node] = true
				out = append(out, e.Node)
			}
		}
	}
	slices.SortFunc(out, func(a, b *graph.Node) int { return c.place[a.ID] - c.place[b.ID] })
	return out
}

// add adds the copy of n, which reads the copies of its inputs.
func (c *copier) add(n *graph.Node) error {
	m := &graph.Node{Node: n.Node, Shapes: n.Shapes}
	m.Name = c.g.Unused("Recomputed/" + n.Name)
	m.Attrs, m.In = c.copied(n)
	waits := true
	for k, e := range m.In {
		if from := c.of[e.Node]; from != nil && c.wanted(e) {
			m.In[k].Node, waits = from, false
		}
	}
	m.AddControls(n.Control...)
	if waits {
		m.AddControls(c.triggers...)
	}
	c.of[n], c.copies[m] = m, n
	return c.g.Add(m)
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
func (c *copier) redirect(n *graph.Node) {
	readers, _ := c.late(n, c.wanted)
	for _, u := range readers {
		for k, e := range u.In {
			if e.Node == n && c.wanted(e) {
				u.In[k].Node = c.of[n]
			}
		}
	}
	c.gone[n] = true
}
