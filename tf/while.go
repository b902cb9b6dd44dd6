package tf

import (
	"cmp"
	"math"

	"github.com/gorge-tf/gorge/tf/core"
)

// WhileContexts is the collection of the contexts of loops that are in no
// other context.
const WhileContexts = "while_context"

// WhileOpts are the optional attributes of a loop.
type WhileOpts struct {
	// ParallelIterations is how many iterations may be under way at once; 10
	// if zero.
	ParallelIterations int
	// MaximumIterations, a scalar of type int32 or int64, ends the loop at
	// the latest; the zero Output sets no limit.
	MaximumIterations Output
	// MaxIterations is MaximumIterations as a number; zero sets no limit.
	MaxIterations int
	// ShapeInvariants says, by variable, which shape it has in all
	// iterations; without it that is the shape of the initial value.
	ShapeInvariants []Shape
	// NoBackProp makes the loop one that no gradients go through.
	NoBackProp bool
	// SwapMemory allows devices to move what gradients need to the host. It has no
	// effect on CPUs, and is kept for graphs that others run.
	SwapMemory bool
}

// whileAttr is under which name Apply passes the whole of WhileOpts on.
const whileAttr = "_while"

// Apply sets the attributes.
func (o WhileOpts) Apply(s *Spec) { s.Set(whileAttr, o) }

// While returns the last values of the loop variables vars: as long as cond of
// their values holds, body of them gives the next ones. Both are called, once,
// to add their operations to the graph. What they use from outside is the same
// in all iterations. Gradients flow through the loop. In an eager graph the
// loop is an ordinary one.
func While(vars []Output, cond func(vars []Output) Output, body func(vars []Output) []Output, opts ...Option) []Output {
	g, bad := graphOf(nil, vars)
	switch {
	case len(vars) == 0:
		return failed(g, "while", Errorf(InvalidArgument, "'vars' must be provided."))
	case bad != nil:
		return failed(g, "while", bad.err, len(vars))
	case cond == nil || body == nil:
		return failed(g, "while", Errorf(InvalidArgument, "While needs two functions, the condition and the body: got nil"), len(vars))
	}
	spec := g.newSpec("while", opts)
	w := loopBuilder{g: g, vars: vars, cond: cond, body: body}
	w.opts, _ = spec.Attrs[whileAttr].(WhileOpts)
	if g.IsEager() {
		return w.now()
	}
	if g.functions.body != nil {
		return w.inFunction(spec.Name)
	}
	g.Scope(spec.Name, func() { g.held(w.build) })
	if w.err != nil {
		return failed(g, spec.Name, w.err, len(vars))
	}
	return w.result
}

// loopBuilder builds one loop.
type loopBuilder struct {
	g          *Graph
	opts       WhileOpts
	vars       []Output
	invariants []Shape
	cond       func([]Output) Output
	body       func([]Output) []Output
	c          *ControlFlowContext
	result     []Output
	err        error
}

func (w *loopBuilder) fail(format string, args ...any) {
	if w.err == nil {
		w.err = Errorf(InvalidArgument, format, args...)
	}
}

// keep notes the first error among those of xs.
func (w *loopBuilder) keep(xs ...Output) bool {
	for _, x := range xs {
		if err := x.Err(); err != nil && w.err == nil {
			w.err = err
		}
	}
	return w.err == nil
}

func (w *loopBuilder) build() {
	if w.prepare(); w.err != nil {
		return
	}
	limited := w.opts.MaximumIterations.op != nil
	if limited {
		w.limit()
	}
	w.c = w.g.newContext("while_context")
	w.c.loop = &whileLoop{maximum: w.opts.MaximumIterations, parallel: w.opts.ParallelIterations, backProp: !w.opts.NoBackProp, swap: w.opts.SwapMemory}
	if w.c.outer == nil {
		w.g.AddToCollection(WhileContexts, w.c)
	}
	w.g.within(w.c, w.loop)
	if limited && w.err == nil {
		w.result = w.result[1:]
	}
}

// inFunction makes functions of condition and body.
func (w *loopBuilder) inFunction(name string) []Output {
	if w.prepare(); w.err != nil {
		return failed(w.g, name, w.err, len(w.vars))
	}
	n := len(w.vars)
	if w.opts.MaximumIterations.op != nil {
		w.limit()
	}
	args := SpecOf(w.vars...)
	for i := range args {
		args[i].Shape = w.invariants[i]
	}
	cond := w.g.trace(w.g.functionName(name, "cond"), args, func(v []Output) []Output { return []Output{w.cond(v)} })
	body := w.g.trace(w.g.functionName(name, "body"), args, func(v []Output) []Output { return w.body(v) })
	out := callLoop("While", w.vars, cond, body, Name(name), Attr("parallel_iterations", w.opts.ParallelIterations))
	if out[0].Err() == nil {
		out = out[len(out)-n:]
	}
	if !w.opts.NoBackProp {
		return out
	}
	for i, x := range out {
		out[i] = applyOne("StopGradient", x)
	}
	return out
}

func (w *loopBuilder) prepare() {
	o := &w.opts
	if o.ParallelIterations == 0 {
		o.ParallelIterations = 10
	}
	if o.ParallelIterations < 0 {
		w.fail("'parallel_iterations' must be a positive integer: %d", o.ParallelIterations)
	}
	w.limitByNumber()
	w.invariants = o.ShapeInvariants
	if w.invariants == nil {
		for _, x := range w.vars {
			w.invariants = append(w.invariants, x.Shape())
		}
	}
	if len(w.invariants) != len(w.vars) {
		w.fail("there must be as many shape invariants as loop variables: got %d for %d", len(w.invariants), len(w.vars))
	}
	if m := o.MaximumIterations; m.op != nil {
		w.keep(m)
		if s := m.Shape(); len(s) != 0 {
			w.fail("'maximum_iterations' must be a scalar. Received shape: %s", s.String())
		}
	}
}

// limitByNumber makes MaxIterations the limit.
func (w *loopBuilder) limitByNumber() {
	o := &w.opts
	switch {
	case o.MaxIterations == 0:
	case o.MaximumIterations.op != nil:
		w.fail("a loop has one limit: either MaximumIterations or MaxIterations may be set, got %v and %d", o.MaximumIterations, o.MaxIterations)
	case o.MaxIterations < 0 || o.MaxIterations > math.MaxInt32:
		w.fail("'maximum_iterations' must be positive and fit an int32: %d", o.MaxIterations)
	default:
		o.MaximumIterations = named(w.g, core.Scalar(int32(o.MaxIterations)), "maximum_iterations")
	}
}

// limit makes the number of iterations a loop variable, which cond looks at.
func (w *loopBuilder) limit() {
	most, cond, body := w.opts.MaximumIterations, w.cond, w.body
	counter := named(w.g, core.NewTensor(most.DType(), Shape{}), "iteration_counter")
	w.vars = append([]Output{counter}, w.vars...)
	w.invariants = append([]Shape{{}}, w.invariants...)
	w.cond = func(v []Output) Output {
		less := Apply(w.g, "Less", []Output{v[0], most}).Output(0)
		return Apply(w.g, "LogicalAnd", []Output{less, cond(v[1:])}).Output(0)
	}
	w.body = func(v []Output) []Output {
		next := addOne(v[0], "add")
		return append([]Output{next}, body(v[1:])...)
	}
}

// loop adds the loop's nodes, with its context in force.
func (w *loopBuilder) loop() {
	l := w.c.loop
	if l.enters = w.enter(); !w.keep(l.enters...) {
		return
	}
	merges := make([]Output, len(l.enters))
	for i, x := range l.enters { // the second input is replaced when the next value is known (closeLoop)
		merges[i] = merge([]Output{x, x})
	}
	l.pivotForPred = merges[0]
	pred := w.cond(append([]Output{}, merges...))
	if !w.keep(pred) {
		return
	}
	if l.pivot = applyOne("LoopCond", pred, Name("LoopCond")); !w.keep(l.pivot) {
		return
	}
	switches := make([][]Output, len(merges))
	for i, m := range merges {
		switches[i] = switchBy(m, l.pivot)
	}
	if w.addBody(merges, switches); w.err != nil {
		return
	}
	for _, s := range switches {
		l.exits = append(l.exits, exitLoop(s[0]))
	}
	w.keep(l.exits...)
	w.c.exitResult(l.exits...)
	w.result = append([]Output{}, l.exits...)
}

// enter takes the initial values in.
func (w *loopBuilder) enter() []Output {
	c := w.c
	real := make([]Output, len(w.vars))
	for i, x := range w.vars {
		if err := c.outer.reach(x.op, c.name, "loop variable"); err != nil {
			w.err = cmp.Or(w.err, err)
		}
		c.values[x] = true
		if real[i] = x; c.outer != nil {
			real[i] = c.outer.capture(x)
		}
	}
	out := make([]Output, len(real))
	for i, x := range real {
		w.g.outside(nil, func() { out[i] = enter(x, c, enterOptions{anyShape: true}) })
		if !w.keep(out[i]) {
			return out
		}
		if s := w.invariants[i]; admits(s, x.Shape()) {
			out[i].SetShape(s)
		} else {
			w.fail("The shape invariant specified for %s is not compatible with the initial shape of the loop variable. It enters the loop with shape %v, but the specified shape invariant is %v.", x.Name(), x.Shape(), s)
		}
	}
	w.adoptEnters(out)
	return out
}

// adoptEnters makes the Enters part of the loop, whose values are only they
// from now on.
func (w *loopBuilder) adoptEnters(enters []Output) {
	c, pivot := w.c, Output{}
	if c.outer != nil {
		pivot = c.outer.controlPivot()
	}
	c.values, c.external = map[Output]bool{}, map[Output]Output{}
	for _, x := range enters {
		if pivot.op != nil && x.op.in[0].op.isConstantEnter() {
			x.op.addControl(pivot.op)
		}
		c.adoptEnter(x.op)
		c.values[x] = true
	}
}

// addBody adds the loop's body and the edges back.
func (w *loopBuilder) addBody(merges []Output, switches [][]Output) {
	in := make([]Output, len(switches))
	for i, s := range switches {
		in[i] = identity(s[1])
	}
	w.c.loop.pivotForBody = in[0]
	next := w.body(append([]Output{}, in...))
	if !w.keep(next...) {
		return
	}
	if len(next) != len(merges) {
		w.fail("Number of inputs and outputs of 'body' must match 'vars'. Got %d for the number of inputs/outputs, and %d for 'vars'.", len(next), len(merges))
		return
	}
	for i, x := range next {
		w.back(i, merges[i], x)
	}
}

// back adds the edge by which x is what m takes in the next iteration.
// It is variable i of the program's and the limit's.
func (w *loopBuilder) back(i int, m, x Output) {
	initial := m.op.in[0].op.in[0]
	if x.DType().Base() != m.DType().Base() {
		if w.opts.MaximumIterations.op != nil {
			i-- // the counter is not the program's
		}
		w.fail("Input tensor '%s' enters the loop with type %v, but has type %v after one iteration: the body must return loop variable %d with the type that it begins with.",
			initial.Name(), m.DType().Base(), x.DType().Base(), i)
		return
	}
	next := nextIteration(x)
	if !w.keep(next) {
		return
	}
	if !admits(m.Shape(), next.Shape()) {
		w.fail("Input tensor '%s' enters the loop with shape %v, but has shape %v after one iteration. To allow the shape to vary across iterations, give a less specific shape in WhileOpts.ShapeInvariants.",
			initial.Name(), initial.Shape(), next.Shape())
		return
	}
	closeLoop(m, next)
}

// now runs the loop, in an eager graph.
func (w *loopBuilder) now() []Output {
	limit := -1
	if w.prepare(); w.err == nil && w.opts.MaximumIterations.op != nil {
		limit = w.maximum()
	}
	vars := w.vars
	for n := 0; w.err == nil && n != limit && w.holds(w.cond(vars)); n++ {
		next := w.body(vars)
		if len(next) != len(vars) {
			w.fail("Number of inputs and outputs of 'body' must match 'vars'. Got %d for the number of inputs/outputs, and %d for 'vars'.", len(next), len(vars))
		}
		w.keep(next...)
		vars = next
	}
	if w.err != nil {
		return failed(w.g, "while", w.err, len(w.vars))
	}
	return vars
}

// maximum returns the limit of iterations.
func (w *loopBuilder) maximum() int {
	v, err := w.opts.MaximumIterations.computed()
	if err != nil {
		w.err = err
		return 0
	}
	n, err := v.Ints()
	if err != nil || len(n) != 1 {
		w.fail("'maximum_iterations' must be a scalar. Received shape: %s", v.Shape().String())
		return 0
	}
	return max(n[0], 0)
}

// holds returns the value of a condition.
func (w *loopBuilder) holds(pred Output) bool {
	v, err := pred.computed()
	switch {
	case err != nil:
		w.err = err
	case v.DType() != Bool || v.Len() != 1:
		w.fail("the condition of a loop must be a scalar of type bool, got %v", pred)
	default:
		return core.Data[bool](v)[0]
	}
	return false
}

// admits reports whether all that s may be, t may be: unknown sizes of t are
// known to be anything.
func admits(t, s Shape) bool {
	if t == nil {
		return true
	}
	if s == nil || len(s) != len(t) {
		return false
	}
	for i, d := range t {
		if d >= 0 && d != s[i] {
			return false
		}
	}
	return true
}
