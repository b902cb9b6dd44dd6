package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/columns"
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
	return stateless(func(c *core.OpContext) error { return segmentSums(c, add, scale) })
}

func sortedSum(add rowOp) core.NewKernel {
	return stateless(func(c *core.OpContext) error { return segmentSums(c, add, nil) })
}

// segmentSums adds up the rows of each segment, and divides the sums by their number if there
// is a scale.
func segmentSums(c *core.OpContext, add rowOp, scale rowScale) error {
	out, ids, err := sortedSegments(c)
	if err != nil {
		return err
	}
	divide := func(at, n int, by float64) {}
	if scale != nil {
		if err := checkCounts(out.DType(), ids); err != nil {
			return err
		}
		divide = scale(out)
	}
	sum, width := adderOfRun(out, c.Input(0), add), out.Shape()[1:].NumElements()
	eachSegment(c, ids, width, func(lo, hi int) {
		to := int(ids[lo]) * width
		sum(to, lo, hi)
		divide(to, width, float64(hi-lo))
	})
	return nil
}

// adderOfRun returns what adds rows of x, from lo on and up to hi, to the elements of out
// from a place on.
func adderOfRun(out, x *core.Tensor, add rowOp) func(to, lo, hi int) {
	width := out.Shape()[1:].NumElements()
	if x.DType() == tf.Float32 {
		z, v := core.Data[float32](out), core.Data[float32](x)
		return func(to, lo, hi int) { foldRows(columns.Sums, z[to:to+width], v[lo*width:hi*width]) }
	}
	join := add(out, x)
	return func(to, lo, hi int) {
		for ; lo < hi; lo++ {
			join(to, lo*width, width)
		}
	}
}

// foldRows folds rows of x, as long as z, into z by columns.
func foldRows(fold func(d columns.Down, z, x []float32), z, x []float32) {
	if len(z) > 0 {
		fold(columns.Down{Rows: len(x) / len(z), Stride: len(z), Width: len(z)}, z, x)
	}
}

// checkCounts refuses segments of so many rows that checkCount does.
func checkCounts(d tf.DType, ids []int64) error {
	if !d.IsInteger() {
		return nil
	}
	for begin := 0; begin < len(ids); {
		end := segmentEnd(ids, begin)
		if err := checkCount(d, end-begin); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// checkCount refuses numbers of rows of which integers of type d keep nothing: these
// divide by what is left of the number, which ends the process in TensorFlow if it is 0.
func checkCount(d tf.DType, rows int) error {
	if d.IsInteger() && uint64(rows)<<(64-8*d.Size()) == 0 {
		return tf.Errorf(tf.InvalidArgument, "the number of rows of a segment must not be 0 as %v, got %d", d, rows)
	}
	return nil
}
