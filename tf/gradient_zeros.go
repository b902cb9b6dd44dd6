package tf

import "github.com/gorge-tf/gorge/tf/core"

// Zeros stand for gradients that do not come: of a conditional's side that
// nothing depends on, or of a loop's result that is not used.

// zerosForSwitch returns zeros for side k of a conditional's Switch, none if op
// is a loop's. It is called where the gradients of op are computed.
func (s *loopStates) zerosForSwitch(op *Operation, k int) Gradient {
	switch {
	case op.flow == nil:
		return Dense(zerosLike(op.Output(k)))
	case op.flow.cond == nil:
		return Gradient{}
	}
	l := s.byCtx[op.flow.enclosingLoop()]
	if l == nil {
		return Dense(s.zerosOnSide(op))
	}
	if x := op.Output(k); x.DType().Base() != Resource && x.Shape().Known() {
		zero := constant(op.g, core.NewTensor(x.DType(), x.Shape()))
		return Dense(l.onOtherSide(op, zero))
	}
	return Dense(l.zerosFromHistory(op, k))
}

func zerosLike(x Output) Output {
	if x.DType().Base() == Resource {
		return fillZeros(shapeOf(x), zerosType(x))
	}
	return applyOne("ZerosLike", x)
}

// zerosOnSide returns zeros that are computed only if the branch that op
// brings values to is not taken.
func (s *loopStates) zerosOnSide(op *Operation) (zero Output) {
	b := op.flow.cond
	x := switchPlain(op.in[0], b.pred)[1-b.branch]
	pivot := identity(x)
	if x.DType().Base() != Resource {
		shape := shapeOf(x)
		s.g.ControlDependencies([]*Operation{pivot.op}, func() { zero = fillZeros(shape, x.DType().Base()) })
		return zero
	}
	s.g.ControlDependencies([]*Operation{pivot.op}, func() { zero = fillZeros(shapeOf(x), zerosType(op.in[0])) })
	return zero
}

// onOtherSide returns x if the branch of op was not taken in the iteration.
func (l *gradLoop) onOtherSide(op *Operation, x Output) Output {
	return switchBy(x, l.predicate(op.flow))[1-op.flow.cond.branch]
}

// zerosFromHistory returns zeros of a shape that the forward loop remembers.
func (l *gradLoop) zerosFromHistory(op *Operation, k int) Output {
	g, c := op.g, op.flow
	var shape Output
	g.within(c.outer, func() {
		x := switchBy(op.in[0], c.cond.pred)[1-c.cond.branch]
		if shape = shapeOf(x); shape.Err() == nil {
			x.op.flow, shape.op.flow = c, c
		}
	})
	if shape.Err() != nil {
		return shape
	}
	var stack Output
	g.within(l.base, func() { stack = l.push(shape, true) })
	if stack.Err() != nil {
		return stack
	}
	return fillZeros(l.pop(stack, shape, true), zerosType(op.Output(k)))
}

// zerosForExit returns zeros for a result of a loop that nothing depends on.
func (s *loopStates) zerosForExit(x Output) (zero Output) {
	outer := s.byCtx[x.op.flow.outer.enclosingLoop()]
	known := x.Shape().Known()
	switch {
	case outer == nil && known:
		return zerosOf(s.g, x.DType().Base(), x.Shape(), "zeros")
	case outer == nil:
		return zerosLike(x)
	case known:
		s.g.within(outer.grad, func() { zero = zerosOf(s.g, x.DType().Base(), x.Shape(), "zeros") })
		return zero
	}
	var shape Output
	s.g.within(x.op.flow.outer, func() { shape = shapeOf(x) })
	stack := outer.push(shape, false)
	s.g.within(outer.grad, func() { zero = fillZeros(outer.pop(stack, shape, false), zerosType(x)) })
	return zero
}

// finish closes the loops of gradients that no iteration hands on to the one
// before: there they are zero.
func (l *gradLoop) finish() {
	for _, op := range l.switched {
		for _, x := range l.switches[op].outputs() {
			if x.Err() == nil && x.op.in[0] == x.op.in[1] {
				l.closeWithZeros(x)
			}
		}
	}
}

func (l *gradLoop) closeWithZeros(m Output) {
	g, first := m.op.g, m.op.in[0]
	var zero Output
	if s := first.Shape(); s.Known() {
		g.within(l.grad, func() { zero = constant(g, core.NewTensor(first.DType(), s)) })
	} else {
		g.within(l.grad.outer, func() { zero = fillZeros(shapeOf(first.op.in[0]), first.DType()) })
	}
	g.within(l.grad, func() { closeLoop(m, nextIteration(zero)) })
}

// outputs returns what g consists of.
func (g Gradient) outputs() (out []Output) {
	g.mapOutputs(func(x Output) Output { out = append(out, x); return x })
	return out
}
