package tf

import "github.com/gorge-tf/gorge/tf/core"

// The operations of control flow and those that gradients of control flow are
// made of, by name: package ops, which has functions for them, imports this
// package. Values that are references take the operations' reference forms.

func refForm(x Output, op string) string {
	if x.DType().IsRef() {
		return "Ref" + op
	}
	return op
}

func applyOne(op string, x Output, opts ...Option) Output {
	return Apply(x.Graph(), op, []Output{x}, opts...).Output(0)
}

func identity(x Output, opts ...Option) Output { return applyOne(refForm(x, "Identity"), x, opts...) }

func nextIteration(x Output) Output { return applyOne(refForm(x, "NextIteration"), x) }

func exitLoop(x Output, opts ...Option) Output { return applyOne(refForm(x, "Exit"), x, opts...) }

// switchBy gives x to one of two outputs, beside x, since data flows there.
func switchBy(x, pred Output, opts ...Option) []Output {
	return switchPlain(x, pred, Join(opts, colocatedWith(x))...)
}

func switchPlain(x, pred Output, opts ...Option) []Output {
	op := Apply(x.Graph(), refForm(x, "Switch"), []Output{x, pred}, opts...)
	return []Output{op.Output(0), op.Output(1)}
}

func colocatedWith(x Output) Option {
	if x.Err() != nil {
		return nil
	}
	return ColocateWith(x.op)
}

func merge(xs []Output, opts ...Option) Output {
	return Apply(xs[0].Graph(), refForm(xs[0], "Merge"), xs, opts...).Output(0)
}

// enterOptions are the rare wishes about an Enter.
type enterOptions struct {
	name     string
	constant bool
	anyShape bool // the value may take another shape in later iterations
}

// enter takes x into loop c.
func enter(x Output, c *ControlFlowContext, o enterOptions) Output {
	y := applyOne(refForm(x, "Enter"), x, Name(o.name), Attr("frame_name", c.name),
		Attr("is_constant", o.constant), Attr("parallel_iterations", c.loop.parallel))
	if !o.anyShape {
		y.SetShape(x.Shape())
	}
	return y
}

// closeLoop makes next what m, a Merge, takes in later iterations.
func closeLoop(m, next Output) {
	if m.Err() != nil || next.Err() != nil {
		return
	}
	m.op.in = []Output{m.op.in[0], next}
}

// named adds a constant of the given name.
func named(g *Graph, t *core.Tensor, name string) Output {
	return Apply(g, "Const", nil, Attr("value", t), Attr("dtype", t.DType()), Name(name)).Output(0)
}

// addOne returns x + 1, named as TensorFlow's add names it.
func addOne(x Output, name string) (y Output) {
	g := x.Graph()
	g.Scope(name, func() {
		one := named(g, oneOf(x.DType()), "y")
		y = Apply(g, "AddV2", []Output{x, one}, Name(inForce(&g.scope, &g.scope.prefix))).Output(0)
	})
	return y
}

func oneOf(d DType) *core.Tensor {
	if d.Base() == Int64 {
		return core.Scalar(int64(1))
	}
	return core.Scalar(int32(1))
}

// zerosOf returns zeros of a shape that is known now.
func zerosOf(g *Graph, d DType, s Shape, name string) Output {
	return named(g, core.NewTensor(d, s), name)
}

// fillZeros returns zeros of a shape that is a tensor.
func fillZeros(shape Output, d DType) (y Output) {
	g := shape.Graph()
	g.Scope("zeros", func() {
		zero := named(g, core.NewTensor(d, Shape{}), "Const")
		y = Apply(g, "Fill", []Output{shape, zero}, Name(inForce(&g.scope, &g.scope.prefix))).Output(0)
	})
	return y
}

// shapeOf returns the shape of x, or of the variable that x is a handle of.
func shapeOf(x Output) Output {
	if x.DType().Base() == Resource {
		return applyOne("VariableShape", x)
	}
	return applyOne("Shape", x)
}

// zerosType returns the type of zeros that stand for the gradient of x.
func zerosType(x Output) DType {
	if d := x.DType().Base(); d != Resource {
		return d
	}
	if d := x.op.handleOf(x.k).DType; d != Invalid {
		return d
	}
	return Float32
}
