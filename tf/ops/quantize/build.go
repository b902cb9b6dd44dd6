package quantize

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// grain is the least number of elements worth a task of their own.
const grain = 16 << 10

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// byType holds the kernels of an op by the value of its type attribute.
type byType = map[tf.DType]core.NewKernel

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// float lists the types that are computed as they are.
type float interface {
	numeric.Float
	tf.Elem
}

// quantum lists the integers that quantized types are stored as.
type quantum interface {
	int8 | uint8 | int16 | uint16 | int32
	tf.Elem
}

// lowest and highest are the bounds of a quantized type.
func lowest[Q quantum]() float32  { return float32(numeric.Lowest[Q]()) }
func highest[Q quantum]() float32 { return float32(numeric.Highest[Q]()) }

// saturated converts x, a whole number, to Q; what lies outside becomes the
// nearest bound.
func saturated[Q quantum](x float32) Q {
	switch {
	case x >= highest[Q]():
		return numeric.Highest[Q]()
	case x > lowest[Q]():
		return Q(x)
	}
	return numeric.Lowest[Q]()
}

// slices describes a tensor as slices along one axis: outer times n times inner
// elements. Without an axis all are one slice.
type slices struct{ outer, n, inner int }

func slicesOf(s tf.Shape, axis int) slices {
	if axis < 0 {
		return slices{1, 1, s.NumElements()}
	}
	return slices{s[:axis].NumElements(), s[axis], s[axis+1:].NumElements()}
}

// each calls f for runs [lo, hi) of the elements of a slice.
func (v slices) each(c *core.OpContext, f func(slice, lo, hi int)) {
	if v.inner <= 0 {
		return // any number of slices may have no elements
	}
	if v.outer*v.n == 1 {
		c.ParallelFor(v.inner, grain, func(lo, hi int) { f(0, lo, hi) })
		return
	}
	c.ParallelFor(v.outer*v.n, max(1, grain/max(1, v.inner)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i%v.n, i*v.inner, (i+1)*v.inner)
		}
	})
}
