package pass

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// bodyOf returns the body of f, nil if there is none: what is wrong will be
// told when f is called.
func (e *expander) bodyOf(f core.Func) *core.FunctionBody { return e.body(f).FunctionBody }

// body is a function's body, and, once it has been asked for, its graph, which is
// only read.
type body struct {
	*core.FunctionBody
	graph *graph.Graph
	err   error
}

func (e *expander) body(f core.Func) *body {
	key := f.Key()
	b := e.bodies[key]
	if b == nil {
		b = &body{}
		b.FunctionBody, _ = e.Library.Body(f)
		e.bodies[key] = b
	}
	return b
}

// read returns the graph of a body.
func (b *body) read(e *expander) (*graph.Graph, error) {
	if b.graph == nil && b.err == nil {
		b.graph, b.err = graph.ReadBody(e.Budget, b.FunctionBody, e.Library)
	}
	return b.graph, b.err
}

// inline puts the body of f in the place of n, which calls it.
func (e *expander) inline(n *graph.Node, f core.Func) error {
	r := e.growth.reach(f)
	if n.Bool("_noinline") || e.calls[n].has(identity(f), r) || !e.hasRoom(r) {
		return nil
	}
	b := e.body(f)
	if b.FunctionBody == nil || b.NoInline || !fits(n, b.FunctionBody) {
		return nil
	}
	g, err := b.read(e)
	if stop := e.Budget.Visit(len(b.Graph.GetNode()) + 1); stop != nil {
		return stop
	}
	if err != nil {
		return nil // the call will tell
	}
	in := &inlining{expander: e, n: n, b: b.FunctionBody, g: g, inner: e.calls[n].calling(identity(f), r), nodes: make(map[*graph.Node]graph.Edge, len(g.Nodes))}
	for _, step := range []func() error{in.addArgs, in.addGate, in.addNodes, in.connect} {
		if err := step(); err != nil {
			return err
		}
	}
	return in.finish()
}

// inlineOwn puts the body that n has by its op in its place.
func (e *expander) inlineOwn(n *graph.Node) error {
	b, err := n.Def.Body(&n.Node, e.visitNew)
	if stop := e.Budget.Visit(0); stop != nil {
		return stop
	}
	if err != nil {
		return nil // the kernel will tell
	}
	if more := add(len(e.Nodes)-e.before, len(b.Graph.GetNode())); more > maxExpanded {
		return nil
	}
	return e.inline(n, core.FuncOf(b))
}

// visitNew counts nodes that are to be in the graph.
func (e *expander) visitNew(nodes int) error { return e.Budget.Visit(nodes) }

// identity tells a function from others in a chain of calls. Gradients share a
// name.
func identity(f core.Func) string {
	if f.Name == core.SymbolicGradient {
		return f.Key()
	}
	return f.Name
}

// fits reports whether n gives and takes what the body does.
func fits(n *graph.Node, b *core.FunctionBody) bool {
	same := func(a, b core.DType) bool { return a.Base() == b.Base() && !b.IsRef() }
	return slices.EqualFunc(n.InTypes, b.ArgTypes, same) && slices.EqualFunc(n.OutTypes, b.RetTypes, same)
}

// inlining is a call that is being replaced.
type inlining struct {
	*expander
	n     *graph.Node
	b     *core.FunctionBody
	g     *graph.Graph // the body
	inner *chain
	nodes map[*graph.Node]graph.Edge // what stands for the nodes of the body
	gate  []*graph.Node              // what nodes without inputs wait for
}

// addArgs finds what stands for the arguments. The body waits for what the
// call waits for.
func (in *inlining) addArgs() error {
	for i, name := range in.b.Args {
		x := in.n.In[i]
		if len(in.n.Control) > 0 || chooses(x.Node) || x.Type().IsRef() {
			var err error
			if x, err = in.identity(in.n, name, x, in.n.Control...); err != nil {
				return err
			}
		}
		in.nodes[in.g.Node(name)] = x
	}
	return nil
}

// addGate: a call runs when all of its inputs are there, and not at all if one
// is dead. Nodes of the body that have no inputs must not run without them.
func (in *inlining) addGate() error {
	var wait []*graph.Node
	seen := make(map[*graph.Node]bool, len(in.b.Args))
	for _, name := range in.b.Args {
		if x := in.nodes[in.g.Node(name)].Node; !seen[x] {
			seen[x] = true
			wait = append(wait, x)
		}
	}
	if len(wait) == 0 {
		wait = in.n.Control
	}
	if len(wait) < 2 {
		in.gate = wait
		return nil
	}
	d, err := in.derive(in.n, "input_control", "NoOp", nil)
	if err != nil {
		return err
	}
	d.Control, in.gate = wait, []*graph.Node{d}
	return nil
}

// addNodes copies the body's nodes, without inputs.
func (in *inlining) addNodes() error {
	caller, err := core.ParseDevice(in.n.Device)
	if err != nil {
		return core.AtNode(err, &in.n.Node, nil)
	}
	for _, b := range in.g.Nodes {
		if r := b.Role(); r == core.Argument || r == core.Result {
			continue
		}
		own, err := core.ParseDevice(b.Device)
		if err != nil {
			return core.AtNode(err, &b.Node, nil)
		}
		c := &graph.Node{Node: b.Node}
		c.Name, c.Device, c.Attrs = in.Unused(in.n.Name+"/"+b.Name), in.n.Device, in.rename(b)
		if in.n.Role() == core.Calls { // in functions that are called by name TensorFlow does not look at devices
			c.Device = caller.Override(own).String()
		}
		if err := in.Add(c); err != nil {
			return err
		}
		in.calls[c] = in.inner
		in.nodes[b] = graph.Edge{Node: c}
	}
	return nil
}

// rename returns the attributes of b with the names in them that must be
// distinct in the whole graph.
func (in *inlining) rename(b *graph.Node) core.Attrs {
	frame, isLoop := b.Attrs["frame_name"].(string)
	classes := b.Strs("_class")
	if !isLoop && len(classes) == 0 {
		return b.Attrs
	}
	out := maps.Clone(b.Attrs)
	if isLoop {
		out["frame_name"] = in.n.Name + "/" + frame
	}
	if len(classes) == 0 {
		return out
	}
	renamed := make([]string, len(classes))
	for i, c := range classes {
		renamed[i] = c
		if node, ok := strings.CutPrefix(c, "loc:@"); ok && in.g.Node(node) != nil {
			renamed[i] = "loc:@" + in.nodeName(node)
		}
	}
	out["_class"] = renamed
	return out
}

// nodeName returns what a node of the body is called in the graph.
func (in *inlining) nodeName(name string) string {
	if x, ok := in.nodes[in.g.Node(name)]; ok {
		return x.Node.Name
	}
	return in.n.Name + "/" + name
}

// connect gives the copies their inputs.
func (in *inlining) connect() error {
	for _, b := range in.g.Nodes {
		x, ok := in.nodes[b]
		if !ok || b.Role() == core.Argument {
			continue
		}
		for _, e := range b.In {
			x.Node.In = append(x.Node.In, in.edge(e))
		}
		after := make([]*graph.Node, len(b.Control))
		for i, c := range b.Control {
			after[i] = in.nodes[c].Node
		}
		if len(b.In)+len(b.Control) == 0 {
			after = in.gate
		}
		x.Node.AddControls(after...)
	}
	return nil
}

// edge returns what stands for an edge of the body.
func (in *inlining) edge(e graph.Edge) graph.Edge {
	x := in.nodes[e.Node]
	if e.Node.Role() == core.Argument {
		return x
	}
	return graph.Edge{Node: x.Node, Out: e.Out}
}

// finish makes the call hand on the results, after all effects of the body.
func (in *inlining) finish() error {
	effects := in.effects()
	out := make([]graph.Edge, len(in.b.Rets))
	for i, name := range in.b.Rets {
		out[i] = in.edge(in.g.Node(name).In[0])
		if len(effects) == 0 && !out[i].Type().IsRef() {
			continue
		}
		var err error
		if out[i], err = in.identity(in.n, "output", out[i], effects...); err != nil {
			return err
		}
	}
	if len(out)+len(effects) == 0 {
		effects = in.gate
	}
	return in.become(in.n, out, effects...)
}

// effects returns the nodes that have to run whatever is read. Functions of
// TensorFlow 1, which are called by name, do not list them; what may be dead in
// those cannot be waited for.
func (in *inlining) effects() []*graph.Node {
	var out []*graph.Node
	for _, name := range in.b.ControlRets {
		out = append(out, in.nodes[in.g.Node(name)].Node)
	}
	if len(out) > 0 || in.n.Role() == core.Calls {
		return out
	}
	if slices.ContainsFunc(in.g.Nodes, func(b *graph.Node) bool { return b.Role().DirectsFlow() }) {
		return nil
	}
	for _, b := range in.g.Nodes {
		if x, ok := in.nodes[b]; ok && b.Role() != core.Argument && hasEffects(b) {
			out = append(out, x.Node)
		}
	}
	return out
}

// Effects says which effects of a function happen though no result needs them.
type Effects bool

const (
	// AllEffects are those of functions that kernels call, as in TensorFlow's
	// functions of one device: operations with effects run.
	AllEffects Effects = false
	// ListedEffects are the control outputs of the function, as in TensorFlow's
	// functions of several devices: those that programs call eagerly and iterators
	// call. It treats the rest as a session treats what nothing fetches.
	ListedEffects Effects = true
)

// PruneBody drops the nodes of a function's body that neither results nor
// effects depend on.
func PruneBody(g *graph.Graph, b *core.FunctionBody, effects Effects) {
	g.Forget()
	var todo []*graph.Node
	waited := make(map[string]bool, len(b.ControlRets))
	for _, name := range b.ControlRets {
		waited[name] = true
	}
	for _, n := range g.Nodes {
		if r := n.Role(); r == core.Argument || r == core.Result || waited[n.Name] || effects == AllEffects && hasEffects(n) {
			todo = append(todo, n)
		}
	}
	needed := make(map[*graph.Node]bool, len(g.Nodes))
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if needed[n] {
			continue
		}
		needed[n] = true
		for _, x := range n.In {
			todo = append(todo, x.Node)
		}
		todo = append(todo, n.Control...)
	}
	g.Keep(func(n *graph.Node) bool { return needed[n] })
}
