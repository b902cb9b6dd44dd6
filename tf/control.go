package tf

import "github.com/gorge-tf/gorge/tf/core"

import "slices"

// A ControlFlowContext is what the operations of one branch of a conditional,
// or of one loop, have in common. A graph has one in force while Cond or While
// calls the functions of its user: an operation that is added then joins it,
// and what it takes from outside is brought in, by a Switch into a branch and
// by an Enter into a loop.
type ControlFlowContext struct {
	g        *Graph
	name     string
	outer    *ControlFlowContext
	nested   []*ControlFlowContext
	values   map[Output]bool   // seen in here: made here, or brought in
	external map[Output]Output // what stands in here for outputs from outside
	cond     *condBranch       // one of the two is set
	loop     *whileLoop
}

// condBranch is what only contexts of conditionals have.
type condBranch struct {
	pred   Output // of the conditional
	pivot  Output // computed if the branch is taken
	branch int    // 1 if the branch is taken when pred is true, else 0
}

// whileLoop is what only contexts of loops have.
type whileLoop struct {
	maximum        Output // most iterations; the zero Output for no limit
	parallel       int
	backProp, swap bool
	pivotForPred   Output // computed when an iteration's condition is to be
	pivotForBody   Output // computed when an iteration's body is to be
	pivot          Output // the LoopCond
	enters, exits  []Output
	grad           *gradLoop // of a loop that computes gradients
}

// newContext returns a context inside the one in force.
func (g *Graph) newContext(name string) *ControlFlowContext {
	c := &ControlFlowContext{g: g, name: g.UniqueName(name), outer: g.scope.flow, values: map[Output]bool{}, external: map[Output]Output{}}
	if c.outer != nil {
		c.outer.nested = append(c.outer.nested, c)
	}
	return c
}

// Name returns the name of c, which for a loop is that of its frame.
func (c *ControlFlowContext) Name() string { return c.name }

// Outer returns the context that c is in, nil if there is none.
func (c *ControlFlowContext) Outer() *ControlFlowContext { return c.outer }

// IsLoop reports whether c is the context of a loop, else of a branch.
func (c *ControlFlowContext) IsLoop() bool { return c.loop != nil }

// ControlFlowContext returns the context that op is in, nil if there is none.
func (op *Operation) ControlFlowContext() *ControlFlowContext { return op.flow }

// within calls f with c, or no context if c is nil, in force.
func (g *Graph) within(c *ControlFlowContext, f func()) { during(g, &g.scope.flow, c, f) }

// outside is within for operations that must not depend on the control inputs
// in force.
func (g *Graph) outside(c *ControlFlowContext, f func()) {
	during(g, &g.scope.control, nil, func() { g.within(c, f) })
}

// held calls f, which may still change the operations that it adds: sessions
// see them all at once, when f is done.
func (g *Graph) held(f func()) {
	g.published.hold()
	defer g.published.release()
	f()
}

// enclosingLoop returns c or the closest context around it that is a loop's,
// nil if there is none.
func (c *ControlFlowContext) enclosingLoop() *ControlFlowContext {
	for ; c != nil && c.loop == nil; c = c.outer {
	}
	return c
}

// contains reports whether d is c or nested in it.
func (c *ControlFlowContext) contains(d *ControlFlowContext) bool {
	for ; d != nil; d = d.outer {
		if d == c {
			return true
		}
	}
	return false
}

// gradLoop returns the state of the gradient loop that c is in, if it is in one.
func (c *ControlFlowContext) gradLoop() *gradLoop {
	if l := c.enclosingLoop(); l != nil {
		return l.loop.grad
	}
	return nil
}

// outputContext returns the context that the outputs of op are in.
func (op *Operation) outputContext() *ControlFlowContext {
	if op.flow != nil && op.isExit() {
		return op.flow.outer
	}
	return op.flow
}

func (op *Operation) isSwitch() bool { return op.Chooses() }
func (op *Operation) isMerge() bool  { return op.Role() == core.Merges }
func (op *Operation) isEnter() bool  { return op.Role() == core.Enters }
func (op *Operation) isExit() bool   { return op.Role() == core.Exits }

func (op *Operation) is(names ...string) bool { return slices.Contains(names, op.OpName()) }

// isConstantEnter reports whether op takes a value into all iterations of a loop.
func (op *Operation) isConstantEnter() bool { return op.isEnter() && op.Bool("is_constant") }

// joinContext makes op, which has its name, part of the context in force.
func (op *Operation) joinContext() (err error) {
	c := op.g.scope.flow
	if c == nil {
		return nil
	}
	op.g.Scope(op.Name+"/", func() { err = c.add(op) })
	return err
}

// controlPivot returns what operations without inputs in c depend on.
func (c *ControlFlowContext) controlPivot() Output {
	switch {
	case c.cond != nil:
		return c.cond.pivot
	case c.loop.pivotForBody.op != nil:
		return c.loop.pivotForBody
	}
	return c.loop.pivotForPred
}

// add makes op part of c. The shape of a value from the forward loop is taken
// in that loop, so that a gradient loop keeps shapes and not values.
func (c *ControlFlowContext) add(op *Operation) error {
	if s := op.g.scope.flow.gradLoop(); s != nil && op.Def.Has(core.ReadsDescription) {
		if in := op.in[0].op; in.flow != nil && in.flow.enclosingLoop() == s.forward {
			c = in.flow
		}
	}
	return c.join(op)
}

func (c *ControlFlowContext) join(op *Operation) error {
	op.flow = c
	for i, x := range op.in {
		if op.isMerge() && x.op.Role() == core.Repeats {
			continue // the back edge of a loop that is being imported
		}
		op.in[i] = c.capture(x)
		if err := op.in[i].Err(); err != nil {
			return err
		}
	}
	external := c.dropExternalControl(op)
	if c.needsPivot(op) {
		op.addControl(c.controlPivot().op)
	}
	c.sees(op)
	if c.loop != nil {
		op.addControl(c.takeIn(external)...)
	}
	return nil
}

// sees marks the outputs of op as known in c and, for a branch, around it.
func (c *ControlFlowContext) sees(op *Operation) {
	for ; c != nil; c = c.outer {
		for _, y := range op.Outputs() {
			c.values[y] = true
		}
		if c.loop != nil {
			return
		}
	}
}

// needsPivot reports whether op would run even if c is not.
func (c *ControlFlowContext) needsPivot(op *Operation) bool {
	if op.Role() == core.Calls || op.Role() == core.Differentiates {
		return true
	}
	if c.loop != nil {
		return len(op.control) == 0 && !slices.ContainsFunc(op.in, func(x Output) bool { return !x.op.isConstantEnter() })
	}
	return len(op.in) == 0 && !slices.ContainsFunc(op.control, func(x *Operation) bool { return c.contains(x.flow) })
}

// dropExternalControl removes the control inputs of op that are outside of the
// loop that c is in, and returns them.
func (c *ControlFlowContext) dropExternalControl(op *Operation) (external []*Operation) {
	l := c.enclosingLoop()
	if l == nil {
		return nil
	}
	var internal []*Operation
	for _, x := range op.control {
		if l == x.outputContext().enclosingLoop() {
			internal = append(internal, x)
		} else {
			external = append(external, x)
		}
	}
	op.control = internal
	return external
}

// takeIn returns operations in loop c that run after ops, which are outside.
func (c *ControlFlowContext) takeIn(ops []*Operation) (out []*Operation) {
	for _, op := range ops {
		if len(op.OutTypes) == 0 {
			continue // there is no value to wait for
		}
		c.g.outside(c, func() { out = append(out, identity(op.Output(0)).op) })
	}
	return out
}

// addControl makes op run after others as well.
func (op *Operation) addControl(others ...*Operation) {
	control := slices.Clone(op.control)
	for _, o := range others {
		if !slices.Contains(control, o) {
			control = append(control, o)
		}
	}
	op.control = control
}

// capture returns what stands for x in c, bringing x in if it is from outside.
func (c *ControlFlowContext) capture(x Output) Output {
	if c.values[x] || c.loop != nil && x.op.flow == c {
		if y, ok := c.external[x]; ok {
			return y
		}
		return x
	}
	c.values[x] = true
	if c.loop != nil {
		c.external[x] = c.captureInLoop(x)
	} else {
		c.external[x] = c.captureInBranch(x)
	}
	return c.external[x]
}

func (c *ControlFlowContext) captureInBranch(x Output) Output {
	x = c.captureAround(x)
	c.g.outside(nil, func() { x = switchBy(x, c.cond.pred)[c.cond.branch] })
	if x.Err() != nil {
		return x
	}
	x.op.flow = c
	for o := c; o != nil; o = o.outer {
		o.values[x] = true
	}
	return x
}

// captureAround brings x into the context around c.
func (c *ControlFlowContext) captureAround(x Output) Output {
	if c.outer == nil {
		return x
	}
	x = c.outer.capture(x)
	c.values[x], c.external[x] = true, x
	return x
}

// captureInLoop makes x a constant of the loop; in a loop that computes
// gradients, a value of the forward loop comes from its history.
func (c *ControlFlowContext) captureInLoop(x Output) Output {
	if s := c.g.scope.flow.gradLoop(); s != nil && x.op.outputContext().enclosingLoop() == s.forward {
		return s.realValue(x)
	}
	if c.outer != nil {
		x = c.outer.capture(x)
	}
	c.g.outside(nil, func() { x = enter(x, c, enterOptions{constant: true}) })
	if x.Err() != nil {
		return x
	}
	c.adoptEnter(x.op)
	c.values[x] = true
	return x
}

// adoptEnter makes an Enter part of loop c, and run after those operations in
// force as control inputs that are around the loop.
func (c *ControlFlowContext) adoptEnter(op *Operation) {
	op.flow = c
	for _, dep := range c.g.dependenciesOf(op.in) {
		if c.isAround(dep) {
			op.addControl(dep)
		}
	}
	c.g.noteDependent(op)
}

// isAround reports whether op is in a context around c, and not outside of the
// loop that c is in.
func (c *ControlFlowContext) isAround(op *Operation) bool {
	loop, at := c.outer.enclosingLoop(), op.outputContext()
	for o := c.outer; o != at; o = o.outer {
		if o == nil || o == loop {
			return false
		}
	}
	return true
}

// exitResult makes results of c known in the context around it.
func (c *ControlFlowContext) exitResult(xs ...Output) {
	if c.outer == nil {
		return
	}
	for _, x := range xs {
		c.outer.values[x] = true
	}
}
