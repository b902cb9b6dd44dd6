package tf

import "github.com/gorge-tf/gorge/tf/core"

// What a loop takes in as a constant gets a gradient from every iteration.
// They are added up by a loop variable of the gradient loop.

// accumulate returns the sum of dx over all iterations. op is the Enter of the
// constant.
func (l *gradLoop) accumulate(op *Operation, dx Gradient) Gradient {
	if dx.sparse != nil {
		return Sparse(l.accumulateSlices(op, *dx.sparse))
	}
	var zero Output
	l.forward.g.within(l.base, func() { zero = l.zeroSum(op, dx.dense) })
	sum := l.variable(zero, Shape(nil), func(sum Output) Output {
		return Apply(op.g, "AddV2", []Output{sum, dx.dense}, Name("Add")).Output(0)
	})
	return Dense(sum)
}

// zeroSum returns what the sum begins with.
func (l *gradLoop) zeroSum(op *Operation, dx Output) (zero Output) {
	g, outer := op.g, l.grad.outer
	if s := dx.Shape(); s.Known() {
		g.withinAny(outer, func() { zero = zerosOf(g, dx.DType(), s, "b_acc") })
		return zero
	}
	if l.outer == nil || outer == nil || outer.loop == nil || outer.loop.grad == nil {
		g.withinAny(outer, func() { zero = fillZeros(shapeOf(op.in[0]), dx.DType()) })
		return zero
	}
	var shape Output
	g.within(l.forward.outer, func() { shape = shapeOf(op.in[0]) })
	stack := l.outer.push(shape, false)
	g.within(outer, func() { zero = fillZeros(l.outer.pop(stack, shape, false), dx.DType()) })
	return zero
}

// withinAny is within for a context that, if it is nil, leaves the one in force.
func (g *Graph) withinAny(c *ControlFlowContext, f func()) {
	if c == nil {
		f()
		return
	}
	g.within(c, f)
}

// variable adds to the gradient loop a variable that begins as first, and
// returns its last value. shape is what all its values have, nil for that of
// the first.
func (l *gradLoop) variable(first Output, shape Shape, next func(Output) Output) Output {
	c := l.grad
	c.values[first] = true
	in := enter(first, c, enterOptions{name: "b_acc", anyShape: shape != nil})
	in.SetShape(shape)
	c.loop.enters = append(c.loop.enters, in)
	m := merge([]Output{in, in}, Name("b_acc"))
	sides := switchPlain(m, c.loop.pivot)
	closeLoop(m, nextIteration(next(sides[1])))
	out := exitLoop(sides[0], Name("b_acc"))
	c.loop.exits = append(c.loop.exits, out)
	c.exitResult(out)
	return out
}

// accumulateSlices joins the rows of all iterations.
func (l *gradLoop) accumulateSlices(op *Operation, dx IndexedSlices) IndexedSlices {
	var values, indices, shape Output
	l.forward.g.within(l.base, func() {
		op.g.withinAny(l.grad.outer, func() {
			values = zeroRow(op, dx.Values)
			indices = constant(op.g, core.NewTensor(dx.Indices.DType(), Shape{1}))
			shape = zeroShape(op, dx.DenseShape)
		})
	})
	join := func(rows Output) func(Output) Output {
		return func(sum Output) Output {
			axis := constant(op.g, core.Scalar(int32(0)))
			return Apply(op.g, "ConcatV2", []Output{sum, rows, axis}, Name("concat")).Output(0)
		}
	}
	var rows Shape
	if s := values.Shape(); s != nil {
		rows = append(Shape{-1}, s[1:]...)
	}
	return IndexedSlices{
		Indices: l.variable(indices, Shape{-1}, join(dx.Indices)),
		Values:  l.variable(values, rows, join(dx.Values)),
		DenseShape: l.variable(shape, shape.Shape(), func(most Output) Output {
			return Apply(op.g, "Maximum", []Output{dx.DenseShape, most}).Output(0)
		}),
	}
}

// zeroRow returns one row of zeros like those of values.
func zeroRow(op *Operation, values Output) Output {
	if s := values.Shape(); s.Known() && len(s) > 0 {
		return zerosOf(op.g, values.DType(), append(Shape{1}, s[1:]...), "b_acc")
	}
	g := op.g
	ints := func(v ...int32) Output { t, _ := core.FromSlice(v); return constant(g, t) }
	rest := Apply(g, "StridedSlice", []Output{shapeOf(op.in[0]), ints(1), ints(0), ints(1)}, Attr("end_mask", 1)).Output(0)
	axis := constant(g, core.Scalar(int32(0)))
	return fillZeros(Apply(g, "ConcatV2", []Output{ints(1), rest, axis}, Name("concat")).Output(0), values.DType())
}

// zeroShape returns zeros like shape, a vector of sizes.
func zeroShape(op *Operation, shape Output) Output {
	if s := shape.Shape(); s.Known() {
		return constant(op.g, core.NewTensor(shape.DType(), s))
	}
	x := Apply(op.g, "Shape", []Output{op.in[0]}, Attr("out_type", shape.DType())).Output(0)
	return applyOne("ZerosLike", x)
}
