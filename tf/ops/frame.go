package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "_Arg", Role: core.Argument, Traits: core.Droppable | core.Awaited, Out: "output: T", Attrs: "T: type; index: int >= 0", Stateful: true,
		Shape: argShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(arg),
	})
	core.Register(core.OpDef{
		Name: "_Retval", Role: core.Result, Traits: core.Awaited, In: "input: T", Attrs: "T: type; index: int >= 0", Stateful: true,
		Shape: noOutputs, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(retval),
	})
}

// argShape takes what the maker of a function body noted of its argument.
func argShape(c *core.Infer) error {
	if shapes, ok := c.Attr("_output_shapes").([]tf.Shape); ok && len(shapes) == 1 {
		c.Set(0, shapes[0])
	}
	return nil
}

var errNoFrame = tf.Errorf(tf.Internal, "no call frame")

func arg(n *core.Node) (core.Kernel, error) {
	i, want := n.Int("index"), n.Type("T").Base()
	return core.Compute(func(c *core.OpContext) error {
		if c.Frame == nil {
			return errNoFrame
		}
		t, err := c.Frame.Arg(i)
		if err != nil {
			return err
		}
		if t.DType() != want {
			return tf.Errorf(tf.InvalidArgument, "Type mismatch: actual %s vs. expect %s", t.DType().CName(), want.CName())
		}
		c.ShareShape(0, t, t.Shape())
		return nil
	}), nil
}

func retval(n *core.Node) (core.Kernel, error) {
	i, want := n.Int("index"), n.Type("T").Base()
	return core.Compute(func(c *core.OpContext) error {
		if c.Frame == nil {
			return errNoFrame
		}
		t := c.Input(0)
		if t.DType() != want {
			return tf.Errorf(tf.InvalidArgument, "Type mismatch: actual %s vs. expect %s", t.DType().CName(), want.CName())
		}
		return c.Frame.SetRetval(i, t)
	}), nil
}
