package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// The passes that come before placement. Functions that they leave alone are
// called when the graph runs.
const (
	lowerPass  = "lower_functional_ops" // If, Case and While become Switch, Merge and loops
	inlinePass = "function_inlining"    // calls become the nodes of what they call
)

// lowerAttr marks If, Case and While nodes that may be lowered.
const lowerAttr = "_lower_using_switch_merge"

const (
	// maxExpanded bounds the nodes that functions add to a graph. A call that
	// would add more stays one.
	maxExpanded = 1 << 19
	// maxInlined bounds the calls within one another that are replaced: each
	// lengthens the names of what it calls.
	maxInlined = 100
)

// Lower takes functions apart before g is placed: functional control flow is
// put in terms of Switch, Merge and loops, and bodies of functions take the
// place of calls. A node that is replaced stays in name, as what hands on the
// results, so that it can be fetched.
func Lower(g *graph.Graph, disabled []string) (err error) {
	defer core.Recover(&err, "the expansion of functions")
	if err := g.Straighten(); err != nil {
		return err
	}
	if slices.Contains(disabled, allPasses) || !callsFunctions(g) {
		return nil
	}
	e := &expander{Graph: g, calls: map[*graph.Node]*chain{}, bodies: map[string]*body{}, replaced: map[*graph.Node]bool{}, growth: growthOf(g.Library), before: len(g.Nodes),
		flow: !slices.Contains(disabled, lowerPass), inlines: !slices.Contains(disabled, inlinePass)}
	for i := 0; i < len(g.Nodes); i++ { // expand appends to the list
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if err := e.expand(g.Nodes[i]); err != nil {
			return err
		}
	}
	if err := g.Budget.CheckSize(len(g.Nodes)); err != nil {
		return err
	}
	e.shortcut()
	return Check(g)
}

// callsFunctions reports whether any node may have to be replaced.
func callsFunctions(g *graph.Graph) bool {
	return g.Library != nil || slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Def.Body != nil })
}

// expander is a graph whose functions are being taken apart.
type expander struct {
	*graph.Graph
	calls         map[*graph.Node]*chain // in which calls a node came about
	bodies        map[string]*body       // by name and attributes
	growth        *growth
	before        int                  // nodes of the graph when it began
	replaced      map[*graph.Node]bool // nodes that only hand on results by now
	flow, inlines bool
}

// chain lists functions of which each is called by the one before.
type chain struct {
	function string
	cycle    int // functions of one are not replaced within one another
	depth    int
	caller   *chain
}

// calling returns c with a call of a function at its end.
func (c *chain) calling(function string, r *reach) *chain {
	next := &chain{function: function, caller: c, depth: 1}
	if r != nil {
		next.cycle = r.cycle
	}
	if c != nil {
		next.depth = c.depth + 1
	}
	return next
}

// has reports whether a call of function must stay one at the end of c.
func (c *chain) has(function string, r *reach) bool {
	if c != nil && c.depth >= maxInlined {
		return true
	}
	for ; c != nil; c = c.caller {
		if c.function == function || r != nil && r.cycle != 0 && r.cycle == c.cycle {
			return true
		}
	}
	return false
}

// hasRoom reports whether a function may take the place of a call, with all that
// it calls.
func (e *expander) hasRoom(r *reach) bool {
	more := len(e.Nodes) - e.before
	if r != nil {
		more = add(more, r.expanded)
	}
	limit := e.Budget.Limits().Nodes
	return more <= maxExpanded && !graph.Exceeds(add(more, e.before), limit)
}

// expand replaces n, if it calls functions and may be replaced.
func (e *expander) expand(n *graph.Node) error {
	if len(e.Nodes)-e.before > maxExpanded {
		return nil
	}
	if e.flow && n.Bool(lowerAttr) {
		switch n.Role() {
		case core.ChoosesOfTwo:
			return e.lowerIf(n)
		case core.ChoosesOfMany:
			return e.lowerCase(n)
		case core.Loops:
			return e.lowerWhile(n)
		}
	}
	if n.Def.Body != nil && e.inlines {
		return e.inlineOwn(n)
	}
	if f, ok := e.callee(n); ok && e.inlines {
		return e.inline(n, f)
	}
	return nil
}

// callee returns the function that n calls, if that is all n does.
func (e *expander) callee(n *graph.Node) (core.Func, bool) {
	switch op := n.OpName(); {
	case n.Role() == core.Calls || n.Role() == core.Differentiates:
		return n.CalledFunctions()[0], true
	case e.Library.Find(op) != nil:
		return core.Func{Name: op, Attrs: n.Attrs}, true
	}
	return core.Func{}, false
}

// derive adds a node that stands, with others, for n.
func (e *expander) derive(n *graph.Node, suffix, op string, attrs core.Attrs, in ...graph.Edge) (*graph.Node, error) {
	d, err := e.AddNew(n.Name+"/"+suffix, op, attrs, n.Device, in...)
	if err != nil {
		return nil, err
	}
	d.CopyPos(&n.Node)
	e.calls[d] = e.calls[n]
	return d, nil
}

// become makes n the node that hands on the results of what has replaced it,
// once the nodes in after have run.
func (e *expander) become(n *graph.Node, out []graph.Edge, after ...*graph.Node) error {
	op, attrs := "NoOp", core.Attrs{}
	if len(out) > 0 {
		types := make([]core.DType, len(out))
		for k, x := range out {
			types[k] = x.Type().Base()
		}
		op, attrs = "IdentityN", core.Attrs{"T": types}
	}
	d, err := core.NewNode(n.Name, op, attrs)
	if err != nil {
		return err
	}
	d.Device = n.Device
	d.CopyPos(&n.Node)
	n.Node, n.In, n.Control = *d, out, nil
	n.AddControls(after...)
	e.replaced[n] = true
	return nil
}

// shortcut lets readers of replaced nodes read what those hand on, so that no
// value waits for another one.
func (e *expander) shortcut() {
	e.ReadPast(e.replaced)
	for _, n := range e.Nodes {
		waits := n.Control
		for i, c := range waits {
			waits[i] = e.instead(c)
		}
		n.Control = nil
		n.AddControls(waits...)
	}
}

// instead returns the node to wait for in the place of c: if that was replaced
// and hands on a single value, the node that computes it. A node that chooses
// runs even if the value is dead, so it is none to wait for.
func (e *expander) instead(c *graph.Node) *graph.Node {
	for e.replaced[c] && len(c.In) == 1 && len(c.Control) == 0 && !chooses(c.In[0].Node) {
		c = c.In[0].Node
	}
	return c
}

// toBool returns x as a truth value: TensorFlow takes numbers and strings, too.
func (e *expander) toBool(n *graph.Node, x graph.Edge) (graph.Edge, error) {
	if x.Type().Base() == core.Bool {
		return x, nil
	}
	b, err := e.derive(n, "ToBool", "ToBool", core.Attrs{"T": x.Type().Base()}, x)
	return graph.Edge{Node: b}, err
}

// identity adds a node that hands on x after others have run.
func (e *expander) identity(n *graph.Node, suffix string, x graph.Edge, after ...*graph.Node) (graph.Edge, error) {
	d, err := e.derive(n, suffix, "Identity", core.Attrs{"T": x.Type().Base()}, x)
	if err != nil {
		return x, err
	}
	d.AddControls(after...)
	return graph.Edge{Node: d}, nil
}

// call adds a node that calls f.
func (e *expander) call(n *graph.Node, suffix string, f core.Func, in []graph.Edge, out []core.DType) (*graph.Node, error) {
	op := "PartitionedCall"
	if n.Def.Stateful {
		op = "StatefulPartitionedCall"
	}
	types := make([]core.DType, len(in))
	for i, x := range in {
		types[i] = x.Type().Base()
	}
	return e.derive(n, suffix, op, core.Attrs{"Tin": types, "Tout": out, "f": f}, in...)
}
