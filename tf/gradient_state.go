package tf

import "github.com/gorge-tf/gorge/tf/core"

// Gradients of a loop of Switch and Merge (TensorFlow's while loop of version 1) are a
// second loop, which runs once for each iteration of the first, the last one first:
//
//	   forward loop                                  gradient loop
//	   x ─▶ Enter ─▶ Merge ─▶ Switch ─▶ Exit ─▶ y    dx ◀─ Exit ◀─ Switch ◀─ Merge ◀─ Enter ◀─ dy
//	                   ▲        │                              │          ▲
//	   NextIteration ──┘        ▼                              ▼          └── NextIteration
//	                 ◀────── body ─ push ─▶ stack ─ pop ─▶ gradients of the body
//	   f_count: 0, 1, … n ─────────── n ──────────────────▶ b_count: n, … 1, 0
//
// What holds:
//
//   - The loops have as many iterations: f_count, a variable added to the forward loop,
//     counts them, and its last value is where b_count begins. For a loop within a loop
//     n differs from one outer iteration to the next, so it goes by a stack as well.
//   - Pushes are in the order of iterations, pops in the opposite one. A push within an
//     iteration comes before the counter's next step (forwardIndex), one of a branch that
//     may not run before f_sync, a trigger that runs in any case. Pops come before b_sync.
//     Of a loop within a loop, all that one run pushes comes before the next run.
//   - A value that is the same in all iterations (a constant Enter) needs no stack; the
//     gradient of such an Enter is the sum over all iterations (accumulate).
//   - A branch in the loop pushes only if it is taken, and is asked again, by the history
//     of its predicate, before the pop.
//   - A Switch is visited twice. The first visit, from the Exit, makes the Merge of the
//     gradient loop with its first input twice; the second, from the body, closes it
//     (closeLoop). finish closes those that were not visited again with zeros.
//   - Gradients of gradient loops are refused, as in TensorFlow; those of While, the
//     functional loop (functionloop.go), are not.
//
// All of it is built by the goroutine that builds the graph, held: sessions see the loops
// when they are complete.

// loopStates holds, for one call of Differentiate, what is known of the loops
// that gradients go through.
type loopStates struct {
	g     *Graph
	base  *ControlFlowContext // in force where the gradients were asked for
	byCtx map[*ControlFlowContext]*gradLoop
	order []*gradLoop
}

// gradLoop ties a loop to the one that computes its gradients, iteration by
// iteration, backwards. What that needs of the forward loop's values is kept
// on stacks.
type gradLoop struct {
	base         *ControlFlowContext // in force where the gradients were asked for: stacks are made there
	forward      *ControlFlowContext
	grad         *ControlFlowContext
	outer        *gradLoop
	forwardIndex Output     // counts the iterations begun, for the next one
	forwardSync  *Operation // after it the next iteration may begin
	gradIndex    Output     // counts down the iterations left, for the next one
	gradSync     *Operation
	history      map[Output]Output       // forward values, as the gradient loop has them
	switches     map[*Operation]Gradient // Merges for the gradients of the loop's Switches
	switched     []*Operation            // the keys of switches, in order
	unused       []Output                // exits that no gradient comes from
	deferred     []Output                // exits that wait for the others
	exits        []Output                // of the forward loop
	pending      int                     // exits still to be seen
}

// stateFor returns the state of the loop that op is in, if gradients go
// through it. With before, an Exit counts to the context around its loop.
func (s *loopStates) stateFor(op *Operation, before bool) *gradLoop {
	if s == nil {
		return nil
	}
	c := op.flow
	if before {
		c = op.outputContext()
	}
	return s.byCtx[c.enclosingLoop()]
}

// inGradient calls f in the loop that computes the gradients of op.
func (s *loopStates) inGradient(op *Operation, before bool, f func()) {
	if l := s.stateFor(op, before); l != nil {
		op.g.within(l.grad, f)
		return
	}
	f()
}

// addLoop makes the loop of exit one that gradients go through. It returns
// the loop's exits.
func (s *loopStates) addLoop(exit *Operation) ([]Output, error) {
	c := exit.flow.enclosingLoop()
	if c == nil {
		return nil, Errorf(FailedPrecondition, "gradients through the loop of %v need its context: import the graph together with its collection %s", exit, WhileContexts)
	}
	if s.byCtx[c] != nil {
		return nil, nil
	}
	l := s.newGradLoop(c)
	s.byCtx[c], s.order = l, append(s.order, l)
	return l.exits, s.g.Err()
}

// newGradLoop adds the two counters: of the forward loop's iterations, and of
// those left to go back through. The forward loop gets nodes although it is complete;
// none that it has is changed, so that a session may have run it.
func (s *loopStates) newGradLoop(c *ControlFlowContext) *gradLoop {
	l := &gradLoop{base: s.base, forward: c, history: map[Output]Output{}, switches: map[*Operation]Gradient{}}
	l.exits = append(l.exits, c.loop.exits...)
	l.pending = len(l.exits)
	l.outer = s.byCtx[c.outer.enclosingLoop()]
	var count Output
	s.g.within(c.outer, func() { count, l.forwardIndex = c.countForward(l.outer) })
	if l.outer == nil {
		s.g.within(c.outer, func() { l.countBackward(count) })
		return l
	}
	c.outer.values[count] = true
	past := l.outer.push(count, false)
	s.g.within(l.outer.grad, func() {
		l.grad = s.g.newContext(c.name)
		l.countDown(l.outer.pop(past, count, false))
	})
	return l
}

// countBackward adds the gradient loop, that is as yet but a counter.
func (l *gradLoop) countBackward(count Output) {
	l.grad = l.forward.g.newContext(l.forward.name)
	l.countDown(count)
}

// countForward adds to loop c a counter of its iterations. It returns the
// number of all and the index of the next.
func (c *ControlFlowContext) countForward(outer *gradLoop) (total, next Output) {
	n := named(c.g, core.Scalar(int32(0)), "f_count")
	if outer != nil {
		// All that one run of the loop pushes comes before what the next does.
		n.op.addControl(outer.forwardIndex.op.in[0].op)
	}
	c.g.within(c, func() {
		c.values[n] = true
		first := enter(n, c, enterOptions{name: "f_count"})
		c.loop.enters = append(c.loop.enters, first)
		m := merge([]Output{first, first})
		sides := switchPlain(m, c.loop.pivot)
		next = nextIteration(addOne(sides[1], "Add"))
		closeLoop(m, next)
		total = exitLoop(sides[0], Name("f_count"))
		c.loop.exits = append(c.loop.exits, total)
		c.exitResult(total)
	})
	return total, next
}

// countDown adds what lets the gradient loop run count times.
func (l *gradLoop) countDown(count Output) {
	c := l.grad
	f := l.forward.loop
	c.loop = &whileLoop{maximum: f.maximum, parallel: f.parallel, backProp: f.backProp, swap: f.swap, grad: l}
	one := named(c.g, core.Scalar(int32(1)), "b_count")
	c.g.within(c, func() {
		c.values[count] = true
		first := enter(count, c, enterOptions{name: "b_count"})
		m := merge([]Output{first, first})
		c.loop.enters, c.loop.pivotForPred = append(c.loop.enters, first), m
		pred := Apply(c.g, "GreaterEqual", []Output{m, one}).Output(0)
		c.loop.pivot = applyOne("LoopCond", pred, Name("b_count"))
		sides := switchPlain(m, c.loop.pivot)
		index := Apply(c.g, "Sub", []Output{sides[1], one}).Output(0)
		c.loop.pivotForBody = index
		l.gradIndex = nextIteration(index)
		closeLoop(m, l.gradIndex)
		zero := exitLoop(sides[0], Name("b_count"))
		c.loop.exits = append(c.loop.exits, zero)
		if l.outer != nil {
			// All that one run of the loop pops comes before what the next does.
			l.outer.syncGrad().addControl(zero.op)
		}
		c.exitResult(zero)
	})
}

// syncForward returns what has to run before the forward loop's next iteration.
func (l *gradLoop) syncForward() *Operation {
	if l.forwardSync == nil {
		l.forwardSync = l.sync("f_sync", l.forward, l.forwardIndex)
	}
	return l.forwardSync
}

// syncGrad returns what has to run before the gradient loop's next iteration.
func (l *gradLoop) syncGrad() *Operation {
	if l.gradSync == nil {
		l.gradSync = l.sync("b_sync", l.grad, l.gradIndex)
	}
	return l.gradSync
}

func (l *gradLoop) sync(name string, c *ControlFlowContext, next Output) (op *Operation) {
	c.g.outside(nil, func() { op = Apply(c.g, "ControlTrigger", nil, Name(name)) })
	op.flow = c
	next.op.addControl(op)
	return op
}
