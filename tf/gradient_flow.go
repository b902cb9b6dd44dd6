package tf

import "github.com/gorge-tf/gorge/tf/core"

// flowGradients are the gradient functions of the ops that direct values:
// they depend on the contexts that the op and the gradient are in. A Switch's
// gradient is a Merge, an Enter's an Exit, and the other way round.
var flowGradients map[core.Role]func(*loopStates, *Operation, []Gradient) []Gradient

func init() {
	flowGradients = map[core.Role]func(*loopStates, *Operation, []Gradient) []Gradient{
		core.Switches: (*loopStates).ofSwitch, core.Merges: (*loopStates).ofMerge, core.Exits: (*loopStates).ofExit,
		core.Enters: (*loopStates).ofEnter, core.Repeats: (*loopStates).ofNext,
		core.Continues: func(*loopStates, *Operation, []Gradient) []Gradient { return make([]Gradient, 1) },
	}
}

// flowGradient returns the gradient function of an op that directs values, nil for
// others. A choice among more than two is only made when graphs are lowered.
func (op *Operation) flowGradient() func(*loopStates, *Operation, []Gradient) []Gradient {
	if op.Role() == core.Switches && !op.isSwitch() {
		return nil
	}
	return flowGradients[op.Role()]
}

func failedGradients(op *Operation, err error) []Gradient {
	out := make([]Gradient, len(op.in))
	out[0] = Dense(Failed(op.g, op.OpName()+"_grad", err).Output(0))
	return out
}

// ofSwitch merges what comes from both sides. A loop's Switch is visited
// twice: from the Exit, where its gradient begins, and from the body, where it
// comes back to.
func (s *loopStates) ofSwitch(op *Operation, dy []Gradient) []Gradient {
	switch {
	case op.flow == nil:
		return s.ofPlainSwitch(op, dy)
	case op.flow.loop != nil:
		return s.ofLoopSwitch(op, dy)
	}
	side := op.flow.cond.branch
	other := dy[1-side]
	switch {
	case !other.IsZero():
		return []Gradient{mergeGradients(dy, "cond_grad"), {}}
	case op.in[0].DType().Base() == Resource:
		return []Gradient{mergeGradients([]Gradient{dy[side], dy[side]}, "cond_resource_grad"), {}}
	}
	return make([]Gradient, 2)
}

func (s *loopStates) ofPlainSwitch(op *Operation, dy []Gradient) []Gradient {
	onFalse, onTrue := dy[0].switchBy(op.in[1], "")[0], dy[1].switchBy(op.in[1], "")[1]
	return []Gradient{mergeGradients([]Gradient{onFalse, onTrue}, ""), {}}
}

func (s *loopStates) ofLoopSwitch(op *Operation, dy []Gradient) []Gradient {
	l := s.g.scope.flow.gradLoop()
	if l == nil {
		return failedGradients(op, Errorf(Internal, "the gradient of %v must be in a gradient loop", op))
	}
	out := make([]Gradient, 2)
	if m, ok := l.switches[op]; ok {
		if !dy[1].IsZero() {
			m.closeLoop(dy[1])
		}
		return out
	}
	if !dy[0].IsZero() {
		out[0] = mergeGradients([]Gradient{dy[0], dy[0]}, "b_switch")
		l.switches[op], l.switched = out[0], append(l.switched, op)
	}
	return out
}

// ofMerge gives the gradient to the input that was taken.
func (s *loopStates) ofMerge(op *Operation, dy []Gradient) []Gradient {
	c := op.in[0].op.outputContext()
	switch {
	case c == nil:
		return ofPlainMerge(op, dy[0])
	case c.cond != nil:
		return dy[0].switchBy(s.realPredicate(c), "cond_grad")
	}
	l := s.g.scope.flow.gradLoop()
	if l == nil {
		return failedGradients(op, Errorf(Internal, "the gradient of %v must be in a gradient loop", op))
	}
	return dy[0].switchBy(l.grad.loop.pivot, "")
}

func ofPlainMerge(op *Operation, dy Gradient) []Gradient {
	out := make([]Gradient, len(op.in))
	for i := range out {
		is := Apply(op.g, "Equal", []Output{op.Output(1), constant(op.g, core.Scalar(int32(i)))}).Output(0)
		out[i] = dy.switchBy(is, "")[1]
	}
	return out
}

// realPredicate returns the predicate of a conditional as it was in the
// iteration that the gradient is of.
func (s *loopStates) realPredicate(c *ControlFlowContext) Output {
	if l := s.g.scope.flow.gradLoop(); l != nil {
		return l.realPredicate(c)
	}
	return c.cond.pred
}

// ofExit takes the gradient into the gradient loop.
func (s *loopStates) ofExit(op *Operation, dy []Gradient) []Gradient {
	l := s.stateFor(op, false)
	switch {
	case l == nil:
		return failedGradients(op, Errorf(Internal, "the gradient of %v must be in a gradient loop", op))
	case !l.grad.loop.backProp:
		return make([]Gradient, 1)
	case op.flow.loop.grad != nil:
		return failedGradients(op, Errorf(Unimplemented, "Second-order gradient for while loops not supported."))
	}
	in := dy[0].mapOutputs(func(x Output) Output {
		l.grad.values[x] = true
		y := enter(x, l.grad, enterOptions{name: "b_exit"})
		l.grad.loop.enters = append(l.grad.loop.enters, y)
		return y
	})
	return []Gradient{in}
}

func (s *loopStates) ofNext(_ *Operation, dy []Gradient) []Gradient { return dy[:1] }

// ofEnter takes the gradient out of the gradient loop; that of a constant is
// the sum over all iterations.
func (s *loopStates) ofEnter(op *Operation, dy []Gradient) []Gradient {
	l := s.g.scope.flow.gradLoop()
	switch {
	case l == nil || !l.grad.loop.backProp:
		return dy[:1]
	case op.Bool("is_constant"):
		return []Gradient{l.accumulate(op, dy[0])}
	}
	out := dy[0].mapOutputs(func(x Output) Output {
		y := exitLoop(x)
		l.grad.loop.exits = append(l.grad.loop.exits, y)
		l.grad.exitResult(y)
		return y
	})
	return []Gradient{out}
}

// mapOutputs returns g with f applied to what it consists of.
func (g Gradient) mapOutputs(f func(Output) Output) Gradient {
	switch {
	case g.IsZero():
		return g
	case g.sparse == nil:
		return Dense(f(g.dense))
	}
	return Sparse(IndexedSlices{Values: f(g.sparse.Values), Indices: f(g.sparse.Indices), DenseShape: f(g.sparse.DenseShape)})
}

// switchBy gives g to one of two.
func (g Gradient) switchBy(pred Output, name string) []Gradient {
	var onTrue []Output
	onFalse := g.mapOutputs(func(x Output) Output {
		sides := switchBy(x, pred, Name(name))
		onTrue = append(onTrue, sides[1])
		return sides[0]
	})
	k := 0
	next := func(Output) Output { k++; return onTrue[k-1] }
	return []Gradient{onFalse, g.mapOutputs(next)}
}

// mergeGradients returns the one of gs that is computed; none if that is true
// of all of them.
func mergeGradients(gs []Gradient, name string) Gradient {
	switch {
	case gs[0].IsZero():
		return gs[1]
	case gs[1].IsZero():
		return gs[0]
	case gs[0].sparse == nil && gs[1].sparse == nil:
		return Dense(merge([]Output{gs[0].dense, gs[1].dense}, Name(name)))
	}
	a, b := gs[0].asSlices(), gs[1].asSlices()
	of := func(x, y Output) Output { return merge([]Output{x, y}, Name(name)) }
	ints := func(x, y Output) Output { xy := ofOneType(x, y); return of(xy[0], xy[1]) }
	return Sparse(IndexedSlices{Values: of(a.Values, b.Values), Indices: ints(a.Indices, b.Indices), DenseShape: ints(a.DenseShape, b.DenseShape)})
}

// asSlices returns g in sparse form, with all rows if it is dense.
func (g Gradient) asSlices() IndexedSlices {
	if g.sparse != nil {
		return *g.sparse
	}
	x := g.dense
	shape := applyOne("Shape", x)
	zero, one := constant(x.Graph(), core.Scalar(int32(0))), constant(x.Graph(), core.Scalar(int32(1)))
	rows := Apply(x.Graph(), "Range", []Output{zero, sliceFirst(shape), one}).Output(0)
	return IndexedSlices{Values: x, Indices: rows, DenseShape: shape}
}

// closeLoop makes next what m, a Merge, takes in later iterations.
func (g Gradient) closeLoop(next Gradient) {
	if g.sparse == nil {
		closeLoop(g.dense, nextIteration(next.Output()))
		return
	}
	m, n := g.sparse, next.asSlices()
	closeLoop(m.Values, nextIteration(n.Values))
	closeLoop(m.Indices, nextIteration(n.Indices))
	closeLoop(m.DenseShape, nextIteration(n.DenseShape))
}
