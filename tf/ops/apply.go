package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// numberLike adds the scalar v in the type of x to the graph of x.
func numberLike(x tf.Output, v float64) tf.Output {
	return ConstValue(x.Graph(), number(x.DType().Base(), v))
}

// number returns v as a scalar of type d, 0 if d is not a type of numbers.
func number(d tf.DType, v float64) *core.Tensor {
	t := core.NewTensor(d, tf.Shape{})
	elementwise.Cast(core.AnyData(t), []float64{v})
	return t
}

// sizes returns the shape of x as a vector of int32: a constant where it is
// known while the graph is built.
func sizes(x tf.Output) tf.Output {
	if s := x.Shape(); s.Known() {
		return intVec(x, tf.Int32, s...)
	}
	return Shape(x)
}

// castTo converts x to type d, if it is of another.
func castTo(x tf.Output, d tf.DType) tf.Output {
	if x.DType().Base() == d {
		return x
	}
	return apply("Cast", []tf.Option{tf.Attr("DstT", d)}, x)
}

// conj returns the complex conjugate of x: x itself if it is real.
func conj(x tf.Output) tf.Output {
	if !x.DType().IsComplex() {
		return x
	}
	return apply("Conj", nil, x)
}

// after adds what f adds so that it runs after dy has been computed: a
// gradient's needs are then not computed, and kept, during the forward pass.
func after(dy tf.Output, f func()) {
	if dy.Graph() == nil || dy.Graph().IsEager() {
		f()
		return
	}
	dy.Graph().ControlDependencies([]*tf.Operation{dy.Operation()}, f)
}

// operands returns xs as operands of one type: that of the first Output, else that
// of the first number that is no int, else int32.
func operands(g *tf.Graph, xs ...any) []tf.Output {
	in := make([]tf.Output, len(xs))
	if i := slices.IndexFunc(xs, isOutput); i >= 0 {
		for k, x := range xs {
			in[k] = author.AsOperand(xs[i].(tf.Output), x)
		}
		return in
	}
	d := numbersType(xs)
	for k, x := range xs {
		if t, err := core.NumberOf(d, x); err != nil {
			in[k] = tf.Failed(g, "Const", err).Output(0)
		} else {
			in[k] = ConstValue(g, t)
		}
	}
	return in
}

func isOutput(x any) bool { _, ok := x.(tf.Output); return ok }

// numbersType returns the type of numbers that stand beside each other.
func numbersType(xs []any) tf.DType {
	for _, x := range xs {
		if _, ok := x.(int); ok {
			continue
		}
		if t, err := tf.TensorOf(x); err == nil {
			return t.DType()
		}
	}
	return tf.Int32
}
