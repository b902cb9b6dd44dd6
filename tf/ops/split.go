package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Split", In: "split_dim: int32; value: T", Out: "output: num_split * T", Attrs: "num_split: int >= 1; T: type",
		Shape: splitShape, Grad: tf.GradFunc(splitGrad),
		Kernels: byCell(split[uint8], split[uint16], split[uint32], split[uint64], split[complex128],
			split[string], split[core.ResourceHandle], split[core.VariantValue]).on("T", smallFloats, smallInts, []tf.DType{tf.QUint8}),
	})
	core.Register(core.OpDef{
		Name: "SplitV", In: "value: T; size_splits: Tlen; split_dim: int32", Out: "output: num_split * T",
		Attrs: "num_split: int >= 1; T: type; Tlen: {int8, int32, int64} = int64",
		Shape: splitVShape, Grad: tf.GradFunc(splitVGrad),
		Kernels: byCell(splitV[uint8], splitV[uint16], splitV[uint32], splitV[uint64], splitV[complex128],
			splitV[string], splitV[core.ResourceHandle], splitV[core.VariantValue]).on("T", smallFloats, smallInts, []tf.DType{tf.QUint8}),
	})
}

// Split cuts x into num parts of equal size along an axis. num is positive. x
// holds numbers, bool, strings, resource handles or variants; the axis is an
// int32 scalar and counts from the end if it is negative. An axis out of
// range, and a dimension that num does not divide, are refused with
// INVALID_ARGUMENT, when the graph is built if the axis and the shape are
// known, else in the step.
func Split[A tf.Int](x tf.Output, num int, axis A, opts ...tf.Option) []tf.Output {
	return outputs(num, "Split", tf.Join(opts, tf.Attr("num_split", num)), author.AsInt(x, axis), x)
}

// SplitV cuts x into num parts of the given sizes along an axis. One of the
// sizes may be -1: what is left. x holds numbers, bool, strings, resource
// handles or variants; sizes is a vector of num elements, int8, int32 or
// int64; the axis is an int32 scalar and counts from the end if it is
// negative. An axis out of range, other negative sizes, and sizes that do not
// add up to the dimension are refused with INVALID_ARGUMENT, when the graph is
// built if axis, sizes and shape are known, else in the step.
func SplitV[S tf.Ints, A tf.Int](x tf.Output, sizes S, axis A, num int, opts ...tf.Option) []tf.Output {
	return outputs(num, "SplitV", tf.Join(opts, tf.Attr("num_split", num)), x, author.AsInts(x, sizes), author.AsInt(x, axis))
}

func splitShape(c *core.Infer) error {
	return splitShapes(c, 1, 0, func(whole int) ([]int, error) {
		n := c.NumOut()
		switch {
		case whole < 0:
			return unknownDims(n), nil
		case whole%n != 0:
			return nil, tf.Errorf(tf.InvalidArgument, "the dimension must be divisible by the number of parts, got %d and %d", whole, n)
		}
		return slices.Repeat([]int{whole / n}, n), nil
	})
}

func splitVShape(c *core.Infer) error {
	return splitShapes(c, 0, 2, func(whole int) ([]int, error) {
		sizes, ok := c.ConstInts(1)
		if !ok || whole < 0 || len(sizes) != c.NumOut() {
			return unknownDims(c.NumOut()), nil
		}
		return splitSizes(sizes, whole)
	})
}

// splitShapes sets all outputs' shapes: that of input value but for the
// dimension that input dim gives, which cut divides.
func splitShapes(c *core.Infer, value, dim int, cut func(whole int) ([]int, error)) error {
	s := c.In(value)
	axis, ok := c.ConstInts(dim)
	if s == nil || !ok || len(axis) != 1 {
		for i := range c.NumOut() {
			if s != nil {
				c.Set(i, unknownDims(len(s)))
			}
		}
		return nil
	}
	at, err := splitAxis(axis[0], len(s))
	if err != nil {
		return err
	}
	sizes, err := cut(s[at])
	if err != nil {
		return err
	}
	for i, part := range partShapes(s, at, sizes) {
		c.Set(i, part)
	}
	return nil
}

func splitAxis(axis, rank int) (int, error) {
	at, ok := wrapAxis(axis, rank)
	if !ok {
		return 0, tf.Errorf(tf.InvalidArgument, "-input rank(-%d) <= split_dim < input rank (%d), but got %d", rank, rank, axis)
	}
	return at, nil
}

// partShapes returns s with dimension at set to each of sizes.
func partShapes(s tf.Shape, at int, sizes []int) []tf.Shape {
	out := make([]tf.Shape, len(sizes))
	for i, n := range sizes {
		out[i] = s.Clone()
		out[i][at] = n
	}
	return out
}

// axisInput reads input i, the dimension along which a tensor is split.
func axisInput(c *core.OpContext, i, rank int) (int, error) {
	t := c.Input(i)
	if t.Len() != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "split_dim_tensor must have exactly one element.")
	}
	axis, err := scalarInt(t, "split_dim")
	if err != nil {
		return 0, err
	}
	return splitAxis(axis, rank)
}

func split[C cell](n *core.Node) (core.Kernel, error) {
	d, num := n.Type("T"), n.Int("num_split")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(1)
		if t := c.Input(0); t.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "split_dim must be a scalar but has rank %d", t.Rank())
		}
		at, err := axisInput(c, 0, x.Rank())
		if err != nil {
			return err
		}
		s := x.Shape()
		if s[at]%num != 0 {
			return tf.Errorf(tf.InvalidArgument, "Number of ways to split should evenly divide the split dimension, but got split_dim %d (size = %d) and num_split %d", at, s[at], num)
		}
		shapes := partShapes(s, at, slices.Repeat([]int{s[at] / num}, num))
		return cutParts[C](c, d, x, product(s[:at]), shapes, at)
	}), nil
}

func splitV[C cell](n *core.Node) (core.Kernel, error) {
	d, num := n.Type("T"), n.Int("num_split")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		sizes, err := splitVSizes(c.Input(1), num)
		if err != nil {
			return err
		}
		at, err := axisInput(c, 2, x.Rank())
		if err != nil {
			return err
		}
		s := x.Shape()
		if sizes, err = splitSizes(sizes, s[at]); err != nil {
			return err
		}
		return cutParts[C](c, d, x, product(s[:at]), partShapes(s, at, sizes), at)
	}), nil
}

func splitVSizes(t *core.Tensor, num int) ([]int, error) {
	if t.Rank() != 1 || t.Len() != num {
		return nil, tf.Errorf(tf.InvalidArgument, "size of the split_tensor must be 1-D and have the same elements as outputs got %d -D and %d elements", t.Rank(), t.Len())
	}
	return intsOf(t)
}

// splitSizes returns sizes with the -1 among them replaced by what is left of
// whole.
func splitSizes(sizes []int, whole int) ([]int, error) {
	out, open, sum := slices.Clone(sizes), -1, 0
	for i, n := range sizes {
		switch {
		case n == -1 && open >= 0:
			return nil, tf.Errorf(tf.InvalidArgument, "There can only be one -1 in the input.")
		case n == -1:
			open = i
		case n < 0:
			return nil, tf.Errorf(tf.InvalidArgument, "Split size at index %d must be >= 0. Got: %d", i, n)
		default:
			sum = min(sum+min(n, whole+1), whole+1) // enough to see that it is too much
		}
	}
	if open >= 0 && sum <= whole {
		out[open] = whole - sum
		return out, nil
	}
	if sum != whole {
		return nil, tf.Errorf(tf.InvalidArgument, "Determined shape must either match input shape along split_dim exactly if fully specified, "+
			"or be less than the size of the input along split_dim if not fully specified.  Got: %d", total(sizes))
	}
	return out, nil
}

// total adds what is not -1.
func total(sizes []int) int {
	sum := 0
	for _, n := range sizes {
		if n >= 0 {
			sum += n
		}
	}
	return sum
}

func splitGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, joined(orZeros(op, dy), op.Input(0)))
}

func splitVGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(joined(orZeros(op, dy), op.Input(2)), tf.Output{}, tf.Output{})
}

// joined is ConcatV2 of any number of values.
func joined(values []tf.Output, axis tf.Output) tf.Output {
	if len(values) == 1 {
		return Identity(values[0])
	}
	return ConcatV2(values, axis)
}
