package signal

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// padded adds zeros to the last dimensions of x where a transform of these lengths
// wants more than there is, as tf.signal does: the op itself refuses that. Of the last
// dimension an inverse transform takes length/2 + 1 elements. Nothing is added to the
// graph if shapes and lengths tell that there is enough.
func padded(x, lengths tf.Output, inverse bool) tf.Output {
	s := x.Shape()
	want, known := fixedLengths(lengths)
	if x.Err() != nil || lengths.Err() != nil || s.NumElements() == 0 {
		return x
	}
	if !known || s == nil {
		return paddedLater(x, lengths, inverse)
	}
	if inverse && len(want) > 0 {
		want[len(want)-1] = want[len(want)-1]/2 + 1
	}
	outer := len(s) - len(want)
	if outer < 0 {
		return x // refused by the op
	}
	paddings, some := make([]int32, 2*len(s)), false
	for i, n := range want {
		have := s[outer+i]
		if have < 0 {
			return paddedLater(x, lengths, inverse)
		}
		if n > have {
			paddings[2*(outer+i)+1], some = int32(n-have), true
		}
	}
	if !some {
		return x
	}
	return ops.Pad(x, ops.Const(x.Graph(), paddings, len(s), 2))
}

// fixedLengths returns lengths that are a constant.
func fixedLengths(lengths tf.Output) (n []int, ok bool) {
	if lengths.Err() != nil || lengths.Operation().OpName() != "Const" {
		return nil, false
	}
	n, err := lengths.Operation().TensorAttr("value").Ints()
	return n, err == nil
}

// paddedLater is padded where the step has to find how much is lacking.
func paddedLater(x, lengths tf.Output, inverse bool) tf.Output {
	g := x.Graph()
	if inverse {
		last := ops.Const(g, []int32{-1})
		n := ops.StridedSlice(lengths, last, ops.Const(g, []int32{0}), ops.Const(g, []int32{1}), ops.StridedSliceOpts{EndMask: 1})
		first := ops.StridedSlice(lengths, ops.Const(g, []int32{0}), last, ops.Const(g, []int32{1}))
		lengths = ops.Concat(0, []tf.Output{first, ops.FloorDiv(n, ops.Scalar(g, int32(2))).Add(1)})
	}
	rank := ops.Shape(lengths)
	inner := ops.StridedSlice(ops.Shape(x), ops.Neg(rank), ops.Const(g, []int32{0}), ops.Const(g, []int32{1}), ops.StridedSliceOpts{EndMask: 1})
	lacking := ops.Maximum(ops.Sub(lengths, inner), ops.Scalar(g, int32(0)))
	outer := ops.Fill(ops.Maximum(ops.Sub(ops.Shape(ops.Shape(x)), rank), ops.Const(g, []int32{0})), ops.Scalar(g, int32(0)))
	after := ops.Concat(0, []tf.Output{outer, lacking})
	return ops.Pad(x, ops.Stack([]tf.Output{ops.ZerosLike(after), after}, 1))
}
