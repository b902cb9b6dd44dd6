package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "OneHot", In: "indices: TI; depth: int32; on_value: T; off_value: T", Out: "output: T",
		Attrs: "axis: int = -1; T: type; TI: {uint8, int8, int32, int64} = int64",
		Shape: oneHotShape, NoGrad: core.NotDifferentiable,
		Kernels: byCell(oneHot[uint8], oneHot[uint16], oneHot[uint32], oneHot[uint64], oneHot[complex128],
			oneHot[string], oneHot[core.ResourceHandle], oneHot[core.VariantValue]).on("T"),
	})
}

// OneHotOpts are the optional attributes of OneHot: where the new dimension
// goes, -1 for the end.
type OneHotOpts struct{ Axis int }

// Apply sets the attributes.
func (o OneHotOpts) Apply(s *tf.Spec) { s.Set("axis", o.Axis) }

// OneHot returns indices with a new dimension of depth elements, of which the
// one that the index names is on and the others are off. An index outside of
// [0, depth) leaves all off. indices are uint8, int8, int32 or int64; on and
// off are scalars of one type, any but the quantized ones, which the result
// has. A negative depth, an axis that is neither -1 nor in [0, rank], and
// operands that are no scalars are refused with INVALID_ARGUMENT, the first
// two when the graph is built if they are known, else in the step.
// Its options are [OneHotOpts].
func OneHot[D tf.Int](indices tf.Output, depth D, on, off tf.Output, opts ...tf.Option) tf.Output {
	return apply("OneHot", opts, indices, author.AsInt(indices, depth), on, off)
}

func oneHotShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	at, err := oneHotAxis(c.Int("axis"), len(s))
	if err != nil {
		return err
	}
	depth := -1
	if v, ok := c.ConstInts(1); ok && len(v) == 1 {
		if depth = v[0]; depth < 0 {
			return tf.Errorf(tf.InvalidArgument, "depth must be non-negative, got: %d", depth)
		}
	}
	c.Set(0, slices.Insert(s.Clone(), at, depth))
	return nil
}

func oneHotAxis(axis, rank int) (int, error) {
	if axis < -1 || axis > rank {
		return 0, tf.Errorf(tf.InvalidArgument, "Expected axis to be -1 or between [0, %d).  But received: %d", rank+1, axis)
	}
	if axis == -1 {
		return rank, nil
	}
	return axis, nil
}

func oneHot[C cell](n *core.Node) (core.Kernel, error) {
	d, axis := n.Type("T"), n.Int("axis")
	return core.Compute(func(c *core.OpContext) error {
		indices := c.Input(0)
		s := indices.Shape()
		at, err := oneHotAxis(axis, len(s))
		if err != nil {
			return err
		}
		for i, name := range []string{"depth", "on_value", "off_value"} {
			if t := c.Input(1 + i); t.Rank() != 0 {
				return tf.Errorf(tf.InvalidArgument, "%s must be a scalar, but got: %s", name, t.Shape().String())
			}
		}
		depth := int(core.Data[int32](c.Input(1))[0])
		if depth < 0 {
			return tf.Errorf(tf.InvalidArgument, "depth must be non-negative, got: %d", depth)
		}
		out, err := c.Alloc(0, d, slices.Insert(s.Clone(), at, depth))
		if err != nil || out.Len() == 0 {
			return err
		}
		dst := cells[C](out)
		kernel.Fill(dst, cells[C](c.Input(3))[0])
		setHot(dst, rows.Indices(indices), product(s[at:]), depth, cells[C](c.Input(2))[0])
		return nil
	}), nil
}

// setHot puts on where the indices, of inner elements each, point to. Indices
// without a place leave all off.
func setHot[C cell](dst []C, indices []int64, inner, depth int, on C) {
	for i, k := range indices {
		if k >= 0 && k < int64(depth) {
			dst[(i/inner*depth+int(k))*inner+i%inner] = on
		}
	}
}
