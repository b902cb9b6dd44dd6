package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An optional holds some tensors, or none. Gradients of conditionals hand the
// values that only one branch computes from one to the other in them.
type optional struct{ items []*core.Tensor } // nil: none

func init() {
	core.Register(core.OpDef{Name: "OptionalNone", Out: "optional: variant", Shape: core.ScalarShape, NoGrad: core.NoGradientDefined,
		Kernels: core.AnyType(stateless(optionalNone))})
	core.Register(core.OpDef{Name: "OptionalFromValue", In: "components: Toutput_types", Out: "optional: variant", Attrs: "Toutput_types: list(type) >= 1",
		Shape: core.ScalarShape, Grad: tf.GradFunc(optionalFromGrad), Kernels: core.AnyType(stateless(optionalFrom))})
	core.Register(core.OpDef{Name: "OptionalHasValue", In: "optional: variant", Out: "has_value: bool", Shape: core.ScalarShape, NoGrad: core.NoGradientDefined,
		Kernels: core.AnyType(stateless(optionalHas))})
	core.Register(core.OpDef{Name: "OptionalGetValue", In: "optional: variant", Out: "components: output_types",
		Attrs: "output_types: list(type) >= 1; output_shapes: list(shape) >= 1", Shape: optionalShape, Grad: tf.GradFunc(optionalGetGrad), Kernels: core.AnyType(optionalGet)})
}

// OptionalOf returns the tensor of an optional that holds values, for kernels;
// without any, of one that holds nothing. The tensor is a variant scalar. It
// never fails: any values will do. They are kept, not copied.
func OptionalOf(values []*core.Tensor) *core.Tensor { return variantOf(&optional{items: values}) }

// OptionalNone returns an optional that holds nothing. The result is a variant
// scalar in g. A nil g is refused with INVALID_ARGUMENT.
func OptionalNone(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "OptionalNone", nil, opts...).Output(0)
}

// OptionalFromValue returns an optional that holds values. There is at least
// one value, of any type and shape; the result is a variant scalar.
func OptionalFromValue(values []tf.Output, opts ...tf.Option) tf.Output {
	return apply("OptionalFromValue", opts, values...)
}

// OptionalHasValue reports whether an optional holds something. The result is
// a bool scalar. A tensor that is no optional is refused in the step with
// INVALID_ARGUMENT.
func OptionalHasValue(o tf.Output, opts ...tf.Option) tf.Output {
	return apply("OptionalHasValue", opts, o)
}

// OptionalGetValue returns what an optional holds: values of the given types
// and shapes. There is at least one of them, and as many shapes as types;
// sizes in a shape that are not known are -1. An optional that holds nothing,
// another number of values, or values of another type or shape is refused in
// the step with INVALID_ARGUMENT, as is a tensor that is no optional.
func OptionalGetValue(o tf.Output, types []tf.DType, shapes []tf.Shape, opts ...tf.Option) []tf.Output {
	return outputs(len(types), "OptionalGetValue", tf.Join(opts, tf.Attr("output_types", types), tf.Attr("output_shapes", shapes)), o)
}

func optionalShape(c *core.Infer) error {
	shapes, _ := c.Attr("output_shapes").([]tf.Shape)
	for i, s := range shapes[:min(len(shapes), len(c.OutTypes))] {
		c.Set(i, s)
	}
	return nil
}

func optionalNone(c *core.OpContext) error {
	c.Set(0, variantOf(&optional{}))
	return nil
}

func optionalFrom(c *core.OpContext) error {
	o := &optional{items: make([]*core.Tensor, c.Inputs())}
	for i := range o.items {
		o.items[i] = keep(c.Input(i))
	}
	c.Set(0, variantOf(o))
	return nil
}

// optionalInput returns the optional that the input holds.
func optionalInput(c *core.OpContext) (*optional, error) {
	t := c.Input(0)
	if t.Rank() == 0 {
		if o, ok := t.Variants()[0].Value.(*optional); ok {
			return o, nil
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Input is not an optional.")
}

func optionalHas(c *core.OpContext) error {
	o, err := optionalInput(c)
	if err == nil {
		c.Set(0, core.Scalar(o.items != nil))
	}
	return err
}

func optionalGet(n *core.Node) (core.Kernel, error) {
	types, _ := n.Attr("output_types").([]tf.DType)
	shapes, _ := n.Attr("output_shapes").([]tf.Shape)
	if len(types) != len(shapes) {
		return nil, tf.Errorf(tf.InvalidArgument, "output_types and output_shapes must be same length, got:\noutput_types: %d\noutput_shapes: %d", len(types), len(shapes))
	}
	return core.Compute(func(c *core.OpContext) error {
		o, err := optionalInput(c)
		switch {
		case err != nil:
			return err
		case o.items == nil:
			return tf.Errorf(tf.InvalidArgument, "The given optional does not have a value.")
		case len(o.items) != len(types):
			return tf.Errorf(tf.InvalidArgument, "The given optional has %d components, expected %d.", len(o.items), len(types))
		}
		for i, t := range o.items {
			if t.DType() != types[i].Base() {
				return tf.Errorf(tf.InvalidArgument, "The given optional does not match the expected type for component %d. Expected: %s. Actual: %s.", i, types[i].CName(), t.DType().CName())
			}
			if !shapes[i].Compatible(t.Shape()) {
				return tf.Errorf(tf.InvalidArgument, "The given optional does not match the expected shape for component %d. Expected: %s. Actual: %s.", i, shapes[i].String(), t.Shape().String())
			}
			c.Set(i, t.Share())
		}
		return nil
	}), nil
}

func optionalFromGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	var types []tf.DType
	var shapes []tf.Shape
	for _, x := range op.Inputs() {
		types, shapes = append(types, x.DType().Base()), append(shapes, x.Shape())
	}
	return tf.Grads(OptionalGetValue(dy[0], types, shapes)...)
}

func optionalGetGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	d := slices.Clone(dy)
	for i := range d {
		if d[i].IsZero() {
			d[i] = ZerosLike(op.Output(i))
		}
	}
	return tf.Grads(OptionalFromValue(d))
}

// zeros returns an optional of zeros like o's values.
func (o *optional) zeros() (*optional, error) {
	z := &optional{}
	for _, t := range o.items {
		t0 := core.NewTensor(t.DType(), t.Shape())
		if err := zeroVariants(t0, t); err != nil {
			return nil, err
		}
		z.items = append(z.items, t0)
	}
	return z, nil
}

// plus adds two optionals value by value.
func (o *optional) plus(p *optional) (*optional, error) {
	if len(o.items) != len(p.items) {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot add optionals because one has a value and the other doesn't.")
	}
	sum := &optional{}
	for i, t := range o.items {
		s, err := sumOf(t, p.items[i])
		if err != nil {
			return nil, err
		}
		sum.items = append(sum.items, s)
	}
	return sum, nil
}
