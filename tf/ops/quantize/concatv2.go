package quantize

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedConcatV2", In: "values: N * T; axis: Tidx; input_mins: N * float; input_maxes: N * float", Out: "output: T; output_min: float; output_max: float",
		Attrs: "N: int >= 2; T: type; Tidx: {int32, int64} = int32", Shape: concatV2Shape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedConcatV2[uint8], tf.QInt8: quantizedConcatV2[int8]}),
	})
}

// QuantizedConcatV2 joins numbers of 8 bits along dimension axis, in a range
// that holds all of theirs. The axis is an int32 or int64 scalar, from the end
// if it is negative; there are two values or more, all quint8 or all qint8;
// others are refused with NOT_FOUND in the step. Values that differ in rank or
// in another dimension, and an axis that they do not have, are refused with
// INVALID_ARGUMENT in the step.
func QuantizedConcatV2(values []Quantized, axis tf.Output, opts ...tf.Option) Quantized {
	n := len(values)
	in := make([]tf.Output, 1+3*n)
	in[n] = axis
	for i, q := range values {
		in[i], in[1+n+i], in[1+2*n+i] = q.Values, q.Min, q.Max
	}
	return quantizedOf("QuantizedConcatV2", opts, in...)
}

func concatV2Shape(c *core.Infer) error {
	n := c.Int("N")
	at, known := c.ConstInts(n)
	if s := c.In(0); known && len(at) == 1 && at[0] < 0 {
		at = []int{at[0] + len(s)}
	}
	s, err := joinedShape(c, 0, n, at, known)
	if err != nil {
		return err
	}
	c.Set(0, s)
	return scalarShapes(c, 1+n, 1)
}

// concatV2Args checks the inputs and returns the dimension to join along, the
// result's shape and the ranges.
func concatV2Args(c *core.OpContext, n int) (axis int, s tf.Shape, ranges []span, err error) {
	at := c.Input(n)
	if at.Rank() != 0 {
		return 0, nil, nil, invalid("axis tensor should be a scalar integer, but got shape %s", at.Shape().String())
	}
	v, err := at.Ints()
	if err != nil {
		return 0, nil, nil, err
	}
	rank := c.Input(0).Rank()
	if axis = v[0]; axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return 0, nil, nil, invalid("ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %d", -rank, rank, v[0])
	}
	for i := range n {
		for k, name := range []string{"input_mins", "input_maxes"} {
			if t := c.Input(1 + (1+k)*n + i); t.Rank() != 0 {
				return 0, nil, nil, invalid("`%s[%d]` must be rank 0 but is rank %d", name, i, t.Rank())
			}
		}
	}
	if s, err = joinedSizes(c, 0, n, axis); err != nil {
		return 0, nil, nil, err
	}
	ranges, err = concatSpans(c, n)
	return axis, s, ranges, err
}

// resultSpan returns the range of numbers of some ranges joined. Those of images
// that are all but equal are taken for the first one.
func resultSpan[Q quantum](ranges []span, rank int) (to span, equal bool) {
	equal = rank == 4
	for _, r := range ranges[1:] {
		equal = equal && abs(r.lo-ranges[0].lo) <= 1e-6 && abs(r.hi-ranges[0].hi) <= 1e-6
	}
	if equal {
		return ranges[0], true
	}
	if to = around[Q](ranges); lowest64[Q]() == 0 {
		to.lo = 0
	}
	return to, false
}

func quantizedConcatV2[Q quantum](n *core.Node) (core.Kernel, error) {
	count, d := n.Int("N"), n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		axis, s, ranges, err := concatV2Args(c, count)
		if err != nil {
			return err
		}
		to, equal := resultSpan[Q](ranges, len(s))
		if equal {
			for i := range ranges {
				ranges[i] = to
			}
		}
		return joinRanged[Q](c, d, 0, axis, s, ranges, to)
	}), nil
}
