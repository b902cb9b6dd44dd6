package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A rowScale binds a tensor; what it returns divides n elements from d on.
type rowScale func(t *core.Tensor) func(d, n int, by float64)

// divideBy returns the rowScale for elements of type T.
func divideBy[T tf.Elem](div func(z, x []T, s T), from func(float64) T) rowScale {
	return func(t *core.Tensor) func(d, n int, by float64) {
		z := core.Data[T](t)
		return func(d, n int, by float64) { div(z[d:d+n], z[d:d+n], from(by)) }
	}
}

func fromFloat[T numeric.Real](v float64) T { return T(v) }

func divideInts[T numeric.Integer](z, x []T, s T) {
	for i := range z {
		z[i] = x[i] / s
	}
}

func divideHalves[H numeric.HalfFloat](z, x []H, s H) {
	wide := []H{s}
	by := make([]float32, 1)
	elementwise.Widen(by, wide)
	elementwise.Widen1(z, x, func(y, x []float32) { elementwise.DivScalar(y, x, by[0]) })
}

// scaleRows holds a rowScale for each type of numbers.
var scaleRows = map[tf.DType]rowScale{
	tf.Float32: divideBy(elementwise.DivScalar[float32], fromFloat[float32]), tf.Float64: divideBy(elementwise.DivScalar[float64], fromFloat[float64]),
	tf.Float16:  divideBy(divideHalves[tf.Half], func(v float64) tf.Half { return numeric.HalfFromFloat32(float32(v)) }),
	tf.BFloat16: divideBy(divideHalves[tf.BF16], func(v float64) tf.BF16 { return numeric.BFloat16FromFloat32(float32(v)) }),
	tf.Int8:     divideBy(divideInts[int8], fromFloat[int8]), tf.Int16: divideBy(divideInts[int16], fromFloat[int16]),
	tf.Int32: divideBy(divideInts[int32], fromFloat[int32]), tf.Int64: divideBy(divideInts[int64], fromFloat[int64]),
	tf.Uint8: divideBy(divideInts[uint8], fromFloat[uint8]), tf.Uint16: divideBy(divideInts[uint16], fromFloat[uint16]),
	tf.Uint32: divideBy(divideInts[uint32], fromFloat[uint32]), tf.Uint64: divideBy(divideInts[uint64], fromFloat[uint64]),
	tf.Complex64:  divideBy(elementwise.DivScalar[complex64], func(v float64) complex64 { return complex(float32(v), 0) }),
	tf.Complex128: divideBy(elementwise.DivScalar[complex128], func(v float64) complex128 { return complex(v, 0) }),
}

// meanSegments returns the kernels of SegmentMean.
func meanSegments() byType {
	by := byType{}
	for d, f := range addRows {
		by[d] = segmentMean(f, scaleRows[d])
	}
	return by
}

func segmentMean(add rowOp, scale rowScale) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		return segmentSums(c, add, func(out *core.Tensor) func(begin, rows int) error {
			divide, width := scale(out), out.Shape()[1:].NumElements()
			return func(id, rows int) error {
				if err := checkCount(out.DType(), rows); err != nil {
					return err
				}
				divide(id*width, width, float64(rows))
				return nil
			}
		})
	})
}

func sortedSum(add rowOp) core.NewKernel {
	return stateless(func(c *core.OpContext) error { return segmentSums(c, add, nil) })
}

// segmentSums adds up the rows of each segment and finishes the sum.
func segmentSums(c *core.OpContext, add rowOp, finisher func(out *core.Tensor) func(id, rows int) error) error {
	out, ids, err := sortedSegments(c)
	if err != nil {
		return err
	}
	finish := func(int, int) error { return nil }
	if finisher != nil {
		finish = finisher(out)
	}
	join, width := add(out, c.Input(0)), out.Shape()[1:].NumElements()
	for begin := 0; begin < len(ids) && err == nil; {
		end, id := segmentEnd(ids, begin), int(ids[begin])
		for i := begin; i < end; i++ {
			join(id*width, i*width, width)
		}
		err = finish(id, end-begin)
		begin = end
	}
	return err
}

// checkCount refuses numbers of rows of which integers of type d keep nothing: these
// divide by what is left of the number, which ends the process in TensorFlow if it is 0.
func checkCount(d tf.DType, rows int) error {
	if d.IsInteger() && uint64(rows)<<(64-8*d.Size()) == 0 {
		return tf.Errorf(tf.InvalidArgument, "the number of rows of a segment must not be 0 as %v, got %d", d, rows)
	}
	return nil
}
