package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RefSelect", In: "index: int32; inputs: N * Ref(T)", Out: "output: Ref(T)", Attrs: "T: type; N: int >= 1",
		Shape: refSelectShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(stateless(refSelect)),
	})
	core.Register(core.OpDef{
		Name: "RefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: sameValue, Grad: tf.GradFunc(passGrad), SparseGrad: tf.SparseGradFunc(passSparse), Kernels: core.AnyType(stateless(passOn)),
	})
	core.Register(core.OpDef{
		Name: "Abort", Attrs: "error_msg: string = ''; exit_without_error: bool = false",
		Shape: noOutputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(abort),
	})
}

// RefSelect returns the one of several references that index, a scalar, names.
// The references, one or more, have one type of any kind; index is of int32. An
// index that is no scalar or names none of them fails the step with
// INVALID_ARGUMENT; a known shape is checked when the graph is built.
func RefSelect(index tf.Output, inputs []tf.Output, opts ...tf.Option) tf.Output {
	return apply("RefSelect", opts, append([]tf.Output{index}, inputs...)...)
}

// RefIdentity returns the same reference. It is of any type, and its variable
// may have no value yet. A value that is no reference is refused with
// INVALID_ARGUMENT when the graph is built.
func RefIdentity(ref tf.Output, opts ...tf.Option) tf.Output { return apply("RefIdentity", opts, ref) }

// Abort adds an operation that ends the step with an error that has the given
// message. TensorFlow ends the process, which is not for a library to do. The
// code is ABORTED, and the message follows "Abort_op intentional failure; ".
func Abort(g *tf.Graph, message string, opts ...tf.Option) *tf.Operation {
	return tf.Apply(g, "Abort", nil, tf.Join(opts, tf.Attr("error_msg", message))...)
}

// refSelectShape: if all inputs have one shape, so has the output.
func refSelectShape(c *core.Infer) error {
	if s := c.In(0); len(s) != 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 0 but is rank %d: input %s has shape %v", len(s), c.Def.Inputs[0].Name, s)
	}
	s := c.In(1).Clone()
	for i := 2; i < c.NumIn(); i++ {
		if s = common(s, c.In(i)); !s.Known() {
			s = nil
		}
	}
	c.Set(0, s)
	return nil
}

func refSelect(c *core.OpContext) error {
	index := c.Input(0)
	if index.Rank() != 0 {
		return tf.Errorf(tf.InvalidArgument, "Index must be a scalar, but it has shape %s", index.Shape().String())
	}
	i, n := int(core.Data[int32](index)[0]), len(c.In)-1
	if i < 0 || i >= n {
		return tf.Errorf(tf.InvalidArgument, "Index must be in the range [0, %d) but got %d", n, i)
	}
	hand(c, i+1, 0)
	return nil
}

func abort(n *core.Node) (core.Kernel, error) {
	message, quiet := n.Str("error_msg"), n.Bool("exit_without_error")
	return core.Compute(func(*core.OpContext) error {
		if quiet {
			return tf.Errorf(tf.Aborted, "Abort_op asks the process to exit")
		}
		return tf.Errorf(tf.Aborted, "Abort_op intentional failure; %s", message)
	}), nil
}
