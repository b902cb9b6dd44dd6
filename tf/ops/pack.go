package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Pack", In: "values: N * T", Out: "output: T", Attrs: "N: int >= 1; T: type; axis: int = 0",
		Shape: packShape, Grad: tf.GradFunc(packGrad),
		Kernels: byCell(pack[uint8], pack[uint16], pack[uint32], pack[uint64], pack[complex128],
			pack[string], pack[core.ResourceHandle], pack[core.VariantValue]).on("T", allQuantized, smallFloats),
	})
	core.Register(core.OpDef{
		Name: "Unpack", In: "value: T", Out: "output: num * T", Attrs: "num: int >= 0; T: type; axis: int = 0",
		Shape: unpackShape, Grad: tf.GradFunc(unpackGrad),
		Kernels: byCell(unpack[uint8], unpack[uint16], unpack[uint32], unpack[uint64], unpack[complex128],
			unpack[string], unpack[core.ResourceHandle], unpack[core.VariantValue]).on("T", smallFloats),
	})
}

// AxisOpts are the optional attributes of Pack and Unpack: the dimension along
// which tensors are put together or taken apart, 0 by default.
type AxisOpts struct{ Axis int }

// Apply sets the attributes.
func (o AxisOpts) Apply(s *tf.Spec) { s.Set("axis", o.Axis) }

// Pack returns values, tensors of equal shape, along a new dimension. It is
// dimension 0 unless AxisOpts says otherwise, and its size is the number of
// values, at least one. They have one type, any. Shapes that differ, and an
// axis not in [-rank-1, rank], are refused with INVALID_ARGUMENT, when the
// graph is built if the shapes are known, else in the step.
// Its options are [AxisOpts].
func Pack(values []tf.Output, opts ...tf.Option) tf.Output { return apply("Pack", opts, values...) }

// Stack returns values, tensors of equal shape, along a new dimension, axis,
// which counts from the end if it is negative. It is Pack with the axis as an
// argument: types and errors are the same. Its options are [AxisOpts].
func Stack(values []tf.Output, axis int, opts ...tf.Option) tf.Output {
	return Pack(values, tf.Join(opts, AxisOpts{axis})...)
}

// Unstack returns the parts of x along an axis, without that axis, whose size
// has to be known; Unpack takes the number where it is not. x has any type
// but the quantized ones; a negative axis counts from the end. An axis out of
// range or of unknown size is refused with INVALID_ARGUMENT when the graph is
// built: the result is then one Output that carries the error.
// Its options are [AxisOpts].
func Unstack(x tf.Output, axis int, opts ...tf.Option) []tf.Output { return x.Unstack(axis, opts...) }

// Unpack returns the num parts of x along a dimension, without that
// dimension. It is dimension 0 unless AxisOpts says otherwise; a negative one
// counts from the end. x has any type but the quantized ones. A dimension out
// of range, or of another size than num, is refused with INVALID_ARGUMENT,
// when the graph is built if the shape of x is known, else in the step.
// Its options are [AxisOpts].
func Unpack(x tf.Output, num int, opts ...tf.Option) []tf.Output {
	return outputs(num, "Unpack", tf.Join(opts, tf.Attr("num", num)), x)
}

func packShape(c *core.Infer) error {
	s := c.In(0)
	for i := 1; i < c.NumIn(); i++ {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Shapes of all inputs must match: %v and %v", s, c.In(i))
		}
		s = m
	}
	if s == nil {
		return nil
	}
	at, ok := wrapAxis(c.Int("axis"), len(s)+1)
	if !ok {
		return badPackAxis(c.Int("axis"), len(s)+1)
	}
	c.Set(0, slices.Insert(s.Clone(), at, c.NumIn()))
	return nil
}

func badPackAxis(axis, rank int) error {
	return tf.Errorf(tf.InvalidArgument, "axis = %d not in [%d, %d)", axis, -rank, rank)
}

func pack[C cell](n *core.Node) (core.Kernel, error) {
	d, axis := n.Type("T"), n.Int("axis")
	return core.Compute(func(c *core.OpContext) error {
		s := c.Input(0).Shape()
		at, ok := wrapAxis(axis, len(s)+1)
		if !ok {
			return badPackAxis(axis, len(s)+1)
		}
		parts, widths := make([][]C, len(c.In)), make([]int, len(c.In))
		for i := range c.In {
			x := c.Input(i)
			if !x.Shape().Equal(s) {
				return tf.Errorf(tf.InvalidArgument, "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s", s.String(), i, x.Shape().String())
			}
			parts[i], widths[i] = cells[C](x), product(s[at:])
		}
		out, err := c.Alloc(0, d, slices.Insert(s.Clone(), at, len(c.In)))
		if err != nil || out.Len() == 0 {
			return err
		}
		joinParts(c, cells[C](out), parts, product(s[:at]), widths)
		return nil
	}), nil
}

func packGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Unpack(dy[0], len(op.Inputs()), AxisOpts{op.Int("axis")})...)
}

func unpackShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	at, ok := wrapAxis(c.Int("axis"), len(s))
	if !ok {
		return badPackAxis(c.Int("axis"), len(s))
	}
	if s[at] >= 0 && s[at] != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "dimension %d must have as many elements as there are outputs: shape %v, %d outputs", at, s, c.NumOut())
	}
	for i := range c.NumOut() {
		c.Set(i, slices.Delete(s.Clone(), at, at+1))
	}
	return nil
}

func unpack[C cell](n *core.Node) (core.Kernel, error) {
	d, axis := n.Type("T"), n.Int("axis")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		s := x.Shape()
		at, ok := wrapAxis(axis, len(s))
		if !ok {
			return badPackAxis(axis, len(s))
		}
		if s[at] != len(c.Out) {
			return tf.Errorf(tf.InvalidArgument, "Input shape axis %d must equal %d, got shape %s", at, len(c.Out), s.String())
		}
		shapes := slices.Repeat([]tf.Shape{slices.Delete(s.Clone(), at, at+1)}, len(c.Out))
		return cutParts[C](c, d, x, product(s[:at]), shapes, at)
	}), nil
}

// cutParts allocates outputs of the given shapes and fills them with the parts
// of x along dimension at, before which there are outer rows.
func cutParts[C cell](c *core.OpContext, d tf.DType, x *core.Tensor, outer int, shapes []tf.Shape, at int) error {
	parts, widths, row := make([][]C, len(shapes)), make([]int, len(shapes)), 0
	for i, s := range shapes {
		out, err := c.Alloc(i, d, s)
		if err != nil {
			return err
		}
		parts[i], widths[i] = cells[C](out), product(s[at:])
		row += widths[i]
	}
	if x.Len() == 0 {
		return nil
	}
	src := cells[C](x)
	c.ParallelFor(outer, max(1, elementGrain/max(1, row)), func(lo, hi int) {
		some := make([][]C, len(parts))
		for i, p := range parts {
			some[i] = p[lo*widths[i] : hi*widths[i]]
		}
		layout.Split(some, src[lo*row:hi*row], hi-lo, widths)
	})
	return nil
}

// unpackGrad packs the gradients; outputs that nothing depends on count as
// zeros.
func unpackGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Pack(orZeros(op, dy), AxisOpts{op.Int("axis")}))
}

// orZeros returns dy with zeros for gradients that are not there.
func orZeros(op *tf.Operation, dy []tf.Output) []tf.Output {
	out := make([]tf.Output, len(dy))
	for i, d := range dy {
		if out[i] = d; d.IsZero() {
			out[i] = ZerosLike(op.Output(i))
		}
	}
	return out
}
