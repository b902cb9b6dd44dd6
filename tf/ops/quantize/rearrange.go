package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedConcat", In: "concat_dim: int32; values: N * T; input_mins: N * float; input_maxes: N * float", Out: "output: T; output_min: float; output_max: float",
		Attrs: "N: int >= 2; T: type", Shape: concatShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedConcat[uint8], tf.QInt32: quantizedConcat[int32]}),
	})
	core.Register(core.OpDef{
		Name: "QuantizedReshape", In: "tensor: T; shape: Tshape; input_min: float; input_max: float", Out: "output: T; output_min: float; output_max: float",
		Attrs: "T: type; Tshape: {int32, int64} = int32", Shape: withSpan(2, shapeOf("Reshape")), NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedReshape, tf.QInt32: quantizedReshape}),
	})
}

// QuantizedConcat joins numbers of 8 bits without sign, or of 32 bits, along
// dimension axis, in a range that holds all of theirs. The axis is an int32
// scalar, not negative; there are two values or more, all quint8 or all
// qint32; others are refused with NOT_FOUND in the step. Values that differ in
// rank or in another dimension, and an axis that they do not have, are refused
// with INVALID_ARGUMENT in the step, as far as the graph shows them when it is
// built.
func QuantizedConcat(axis tf.Output, values []Quantized, opts ...tf.Option) Quantized {
	in := make([]tf.Output, 1+3*len(values))
	in[0] = axis
	for i, q := range values {
		in[1+i], in[1+len(values)+i], in[1+2*len(values)+i] = q.Values, q.Min, q.Max
	}
	return quantizedOf("QuantizedConcat", opts, in...)
}

// QuantizedReshape is Reshape for quantized numbers. The values are quint8 or
// qint32; others are refused with NOT_FOUND in the step. Bounds of more than
// one element are refused with INVALID_ARGUMENT; other errors are those of
// Reshape.
func QuantizedReshape(x Quantized, shape tf.Output, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedReshape", opts, x.Values, shape, x.Min, x.Max)
}

func concatShape(c *core.Infer) error {
	n := c.Int("N")
	at, known := c.ConstInts(0)
	s, err := joinedShape(c, 1, n, at, known)
	if err != nil {
		return err
	}
	c.Set(0, s)
	return scalarShapes(c, 1+n, 1)
}

// joinedShape returns what is known of n inputs joined along dimension at, if
// that is known.
func joinedShape(c *core.Infer, first, n int, at []int, known bool) (tf.Shape, error) {
	var out tf.Shape
	for i := range n {
		s := c.In(first + i)
		if s == nil {
			return nil, nil
		}
		switch {
		case i == 0 && known && (len(at) != 1 || at[0] < 0 || at[0] >= len(s)):
			return nil, invalid("Expected concatenating dimensions in the range [0, %d), but got %v", len(s), at)
		case i == 0:
			out = s.Clone()
			continue
		case len(s) != len(out):
			return nil, invalid("Shape must be rank %d but is rank %d", len(out), len(s))
		}
		for d := range out {
			out[d] = joinedDim(out[d], s[d], known, known && d == at[0])
		}
	}
	return out, nil
}

// joinedDim returns a dimension of tensors that are joined, perhaps along it.
func joinedDim(a, b int, known, along bool) int {
	switch {
	case along && a >= 0 && b >= 0:
		return a + b
	case along || !known:
		return -1
	case a < 0:
		return b
	}
	return a
}

// concatArgs checks the inputs and returns the dimension to join along, the
// result's shape and the ranges.
func concatArgs(c *core.OpContext, n int) (axis int, s tf.Shape, ranges []span, err error) {
	if at := c.Input(0); at.Rank() != 0 {
		return 0, nil, nil, invalid("Concat dim tensor should be a scalar integer, but got shape %s", at.Shape().String())
	}
	axis = int(core.Data[int32](c.Input(0))[0])
	if rank := c.Input(1).Rank(); axis < 0 || axis >= rank {
		return 0, nil, nil, invalid("ConcatOp : Expected concatenating dimensions in the range [0, %d), but got %d", rank, axis)
	}
	if ranges, err = concatSpans(c, n); err != nil {
		return 0, nil, nil, err
	}
	s, err = joinedSizes(c, 1, n, axis)
	return axis, s, ranges, err
}

// joinedSizes returns the shape of n inputs joined.
func joinedSizes(c *core.OpContext, from, n, axis int) (tf.Shape, error) {
	first := c.Input(from).Shape()
	s := first.Clone()
	for i := 1; i < n; i++ {
		in := c.Input(from + i).Shape()
		if len(in) != len(s) {
			return nil, invalid("ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s", first.String(), i, in.String())
		}
		for d := range s {
			if d != axis && in[d] != s[d] {
				return nil, invalid("ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%d] = %s", first.String(), i, in.String())
			}
		}
		s[axis] += in[axis]
	}
	return s, nil
}

func concatSpans(c *core.OpContext, n int) ([]span, error) {
	out := core.Make[span](n)
	for i := range out {
		lo, hi := c.Input(1+n+i), c.Input(1+2*n+i)
		switch {
		case lo.Len() != 1:
			return nil, invalid("input_mins each tensor's num elements must be 1, given num elements %d in index %d", lo.Len(), i)
		case hi.Len() != 1:
			return nil, invalid("input_maxes each tensor's num elements must be 1, given num elements %d in index %d", hi.Len(), i)
		}
		out[i] = span{core.Data[float32](lo)[0], core.Data[float32](hi)[0]}
	}
	return out, nil
}

// around returns a range that holds all others, and 0. Where numbers have a sign
// 0 is its middle.
func around[Q quantum](ranges []span) span {
	r := span{0, -math.MaxFloat32}
	for _, o := range ranges {
		r.lo, r.hi = lesser(r.lo, o.lo), greater(r.hi, o.hi) // what is NaN does not count, as in TensorFlow
	}
	if lowest64[Q]() < 0 {
		most := r.farther()
		return span{-most, most}
	}
	return r
}

func quantizedConcat[Q quantum](n *core.Node) (core.Kernel, error) {
	count, d := n.Int("N"), n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		axis, s, ranges, err := concatArgs(c, count)
		if err != nil {
			return err
		}
		return joinRanged[Q](c, d, 1, axis, s, ranges, around[Q](ranges))
	}), nil
}

// joinRanged makes output 0 the inputs from first on joined to shape s, in range
// to.
func joinRanged[Q quantum](c *core.OpContext, d tf.DType, first, axis int, s tf.Shape, ranges []span, to span) error {
	out, err := c.Alloc(0, d, s)
	if err != nil {
		return err
	}
	if out.Len() == 0 {
		return setSpan(c, to) // any number of lines may have no elements
	}
	y, line, at := core.Data[Q](out), s[axis:].NumElements(), 0
	for i, r := range ranges {
		x := c.Input(first + i)
		width := x.Shape()[axis:].NumElements()
		joinInto(c, y, core.Data[Q](x), s[:axis].NumElements(), line, at, width, requantizer[Q](r, to))
		at += width
	}
	return setSpan(c, to)
}

// requantizer returns what takes numbers to another range.
func requantizer[Q quantum](from, to span) func(y, x []Q) {
	if from == to {
		return func(y, x []Q) { copy(y, x) }
	}
	own := affineOf[Q](from)
	return func(y, x []Q) { inQuanta(y, x, own, to) }
}

// joinInto writes rows of x, so wide, into the lines of y from column at on.
func joinInto[Q quantum](c *core.OpContext, y, x []Q, rows, line, at, width int, f func(y, x []Q)) {
	c.ParallelFor(rows, max(1, grain/max(1, width)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(y[i*line+at:][:width], x[i*width:(i+1)*width])
		}
	})
}

func quantizedReshape(n *core.Node) (core.Kernel, error) {
	k, err := core.Lookup("Reshape").Kernels.All(n)
	if err != nil {
		return nil, err
	}
	reshape := k.(core.Compute)
	return core.Compute(func(c *core.OpContext) error {
		if err := reshape(c); err != nil {
			return err
		}
		for i, name := range []string{"input_min", "input_max"} {
			if s := c.Input(2 + i).Shape(); len(s) > 0 && !s.Equal(tf.Shape{1}) {
				return invalid("%s must be a scalar or a vector of 1 element", name)
			}
		}
		return setSpan(c, spanAt(c, 2))
	}), nil
}
