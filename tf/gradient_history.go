package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Gradients of a loop need values of its iterations, last ones first: the
// forward loop pushes them on a stack, the gradient loop pops them.

// push adds to the forward loop what keeps x of every iteration, and returns
// the stack. The pushes of one iteration come before those of the next. With
// dead, x stands for the branch of its conditional that is not taken.
func (l *gradLoop) push(x Output, dead bool) (stack Output) {
	g := l.forward.g
	g.outside(l.base, func() {
		g.colocating(x.op, func() {
			size := named(g, core.Scalar(int32(-1)), "Const")
			stack = Apply(g, "StackV2", []Output{size}, Attr("elem_type", x.DType().Base()), Name("f_acc")).Output(0)
		})
	})
	g.outside(nil, func() {
		into := l.forward.capture(stack)
		if into.Err() != nil {
			return
		}
		op := l.pushIn(into, x, dead)
		if op.err == nil {
			op.addControl(l.forwardIndex.op.in[0].op)
		}
	})
	return stack
}

// pushIn adds the push where x is computed.
func (l *gradLoop) pushIn(stack, x Output, dead bool) (op *Operation) {
	g, c := l.forward.g, x.op.outputContext()
	add := func() {
		op = Apply(g, "StackPushV2", []Output{stack, x}, Attr("swap_memory", l.forward.loop.swap))
	}
	switch {
	case c == l.forward:
		g.within(c, add)
		l.forwardIndex.op.addControl(op)
		return op
	case c == nil || c.cond == nil:
		return Failed(g, "StackPushV2", Errorf(Internal, "value_ctxt is not a CondContext: %v", x))
	case dead:
		g.within(c.outer, add)
		op.flow = c
	default:
		g.within(c, add)
	}
	l.syncForward().addControl(op)
	return op
}

// pop adds to the gradient loop what returns the value of x that push kept. A
// value from a branch is only popped if that was taken.
func (l *gradLoop) pop(stack, x Output, dead bool) (y Output) {
	g := l.grad.g
	branch := l.branchOf(stack, x)
	g.outside(l.grad, func() {
		if branch != nil {
			side := branch.cond.branch
			if dead {
				side = 1 - side
			}
			stack = switchBy(stack, l.predicate(branch))[side]
		}
		y = Apply(g, "StackPopV2", []Output{stack}, Attr("elem_type", x.DType().Base())).Output(0)
		y.SetShape(x.Shape())
	})
	if y.Err() == nil && l.grad.loop.parallel > 1 {
		l.syncGrad().addControl(y.op)
	}
	return y
}

// branchOf returns the context of the conditional that controls x but not the
// stack, if there is one.
func (l *gradLoop) branchOf(stack, x Output) *ControlFlowContext {
	for c := x.op.flow; c != nil && c != stack.op.flow; c = c.outer {
		if c.cond != nil {
			return c
		}
	}
	return nil
}

// predicate returns the predicate of a conditional in the forward loop, as the
// gradient loop has it.
func (l *gradLoop) predicate(c *ControlFlowContext) Output {
	for s := l; s != nil; s = s.outer {
		if p, ok := s.history[c.cond.pred]; ok {
			return p
		}
	}
	if c.outer != nil && c.outer.cond != nil && c.enclosingLoop() == l.forward {
		// It is only there if the outer one takes its branch, even if it is the same in all
		// iterations. TensorFlow takes that one, and pops what has not been pushed.
		return l.realPredicate(c)
	}
	return c.cond.pred
}

// realPredicate returns the predicate of a conditional as it was in the iteration that the
// gradient is of.
func (l *gradLoop) realPredicate(c *ControlFlowContext) Output {
	pred := c.cond.pred
	if real, ok := l.history[pred]; ok {
		return real
	}
	var stack Output
	l.forward.g.within(l.base, func() { stack = l.push(pred, false) })
	if stack.Err() != nil {
		return stack
	}
	real := l.pop(stack, pred, false)
	l.history[pred] = real
	return real
}

// realValue returns x, a value of the forward loop, as the gradient loop has
// it. It is called in the gradient loop.
func (l *gradLoop) realValue(x Output) Output {
	if y, ok := l.history[x]; ok {
		return y
	}
	y := l.findValue(x)
	l.history[x] = y
	return y
}

func (l *gradLoop) findValue(x Output) (y Output) {
	for s := l; ; {
		op := constantEnter(x)
		switch {
		case op != nil: // the same in all iterations, so the value is outside
			x = op.in[0]
			if s = s.outer; s == nil {
				return l.grad.capture(x)
			}
		case x.op.Role() == core.Constant:
			return constant(x.op.g, x.op.TensorAttr("value"))
		default:
			return l.remembered(s, x)
		}
	}
}

// remembered returns x, a value of the forward loop of s, which is l or around
// it, from a stack.
func (l *gradLoop) remembered(s *gradLoop, x Output) (y Output) {
	g := l.grad.g
	var stack Output
	g.within(l.base, func() { stack = s.push(x, false) })
	if err := stack.Err(); err != nil {
		return stack
	}
	if y = s.pop(stack, x, false); s != l && y.Err() == nil {
		y = l.grad.capture(y)
	}
	return y
}

// constantEnter returns the Enter that x comes from, if x is the same in all
// iterations of its loop.
func constantEnter(x Output) *Operation {
	op := x.op
	for op.isSwitch() || op.Def.Has(core.Passthrough) || op.is("RefIdentity") {
		op = op.in[0].op
	}
	if op.isConstantEnter() {
		return op
	}
	return nil
}

// colocating calls f; operations that f adds go where op is.
func (g *Graph) colocating(op *Operation, f func()) {
	during(g, &g.scope.groups, append(slices.Clip(inForce(&g.scope, &g.scope.groups)), op), f)
}
