package ops

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/internal/kernel/columns"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	segmentOp("Sum", "numbertype", segmentSumGrad, addRows.kernels(sortedSum))
	segmentOp("Mean", "numbertype", segmentMeanGrad, meanSegments())
	segmentOp("Prod", "numbertype", segmentProdGrad, mulRows.kernels(func(f rowOp) core.NewKernel { return segmentFold(f, 1, false) }))
	segmentOp("Max", "realnumbertype", segmentExtremeGrad, extremeSegments(maxRows, columns.Max))
	segmentOp("Min", "realnumbertype", segmentExtremeGrad, extremeSegments(minRows, columns.Min))
	unsortedOp("Prod", "numbertype", unsortedProdGrad, mulSlices, func(d tf.DType) *core.Tensor { return number(d, 1) })
	unsortedOp("Max", "realnumbertype", unsortedExtremeGrad, maxSlices, func(d tf.DType) *core.Tensor { return extremes[d][0] })
	unsortedOp("Min", "realnumbertype", unsortedExtremeGrad, minSlices, func(d tf.DType) *core.Tensor { return extremes[d][1] })
}

func segmentOp(name, types string, grad tf.GradFunc, kernels byType) {
	core.Register(core.OpDef{
		Name: "Segment" + name, In: "data: T; segment_ids: Tindices", Out: "output: T",
		Attrs: "T: " + types + "; Tindices: {int32, int64}", Shape: segmentShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	})
}

func unsortedOp(name, types string, grad tf.GradFunc, loops slicesOps, first func(tf.DType) *core.Tensor) {
	by := byType{}
	for d, f := range loops {
		by[d] = unsortedFold(f, first(d))
	}
	core.Register(core.OpDef{
		Name: "UnsortedSegment" + name, In: "data: T; segment_ids: Tindices; num_segments: Tnumsegments", Out: "output: T",
		Attrs: "T: " + types + "; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
		Shape: unsortedSegmentShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", by),
	})
}

// SegmentSum returns the sums of the rows of x that belong together: ids, in
// ascending order, tell where each belongs. ids is a vector of int32 or
// int64, one for each row. x holds numbers and has one dimension or more; the
// result has its shape, with the last id plus 1 as the first size, and rows
// that no id names are 0. Other shapes are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step. Ids that are
// negative or descend end the step with INVALID_ARGUMENT.
func SegmentSum(x, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SegmentSum", opts, x, ids)
}

// SegmentMean is SegmentSum for means. Those of integers are truncated; their
// sums may overflow. Types, shapes and errors are those of SegmentSum. A
// segment of so many rows that their number is 0 in an integer type, such as
// 256 in uint8, fails the step with INVALID_ARGUMENT, too.
func SegmentMean(x, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SegmentMean", opts, x, ids)
}

// SegmentProd is SegmentSum for products. Rows that no id names are 1. Types,
// shapes and errors are those of SegmentSum.
func SegmentProd(x, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SegmentProd", opts, x, ids)
}

// SegmentMax is SegmentSum for greatest elements. x holds real numbers
// (floating-point numbers and integers of 8 to 64 bits); the greatest is NaN
// where there is one. Rows that no id names are 0. Shapes and errors are those
// of SegmentSum.
func SegmentMax(x, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SegmentMax", opts, x, ids)
}

// SegmentMin is SegmentSum for least elements. x holds real numbers
// (floating-point numbers and integers of 8 to 64 bits); the least is NaN
// where there is one. Rows that no id names are 0. Shapes and errors are those
// of SegmentSum.
func SegmentMin(x, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SegmentMin", opts, x, ids)
}

// UnsortedSegmentProd is UnsortedSegmentSum for products. ids is int32 or
// int64, and rows without slices are 1. Other types of ids are refused with
// INVALID_ARGUMENT when the graph is built. x, shapes and errors are those of
// UnsortedSegmentSum.
func UnsortedSegmentProd(x, ids, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnsortedSegmentProd", opts, x, ids, n)
}

// UnsortedSegmentMax is UnsortedSegmentSum for greatest elements; where there
// are none, the lowest number. This number is finite, and the greatest is NaN
// where there is one. x holds real numbers, ids is int32 or int64. Other types
// are refused with INVALID_ARGUMENT when the graph is built; shapes and errors
// are those of UnsortedSegmentSum.
func UnsortedSegmentMax(x, ids, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnsortedSegmentMax", opts, x, ids, n)
}

// UnsortedSegmentMin is UnsortedSegmentSum for least elements; where there are
// none, the highest number. This number is finite, and the least is NaN where
// there is one. x holds real numbers, ids is int32 or int64. Other types are
// refused with INVALID_ARGUMENT when the graph is built; shapes and errors are
// those of UnsortedSegmentSum.
func UnsortedSegmentMin(x, ids, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnsortedSegmentMin", opts, x, ids, n)
}

// extremes holds the lowest and highest finite number of each type.
var extremes = map[tf.DType][2]*core.Tensor{
	tf.Float32:  {core.Scalar(float32(-math.MaxFloat32)), core.Scalar(float32(math.MaxFloat32))},
	tf.Float64:  {core.Scalar(-math.MaxFloat64), core.Scalar(math.MaxFloat64)},
	tf.Float16:  {core.Scalar(numeric.HalfFromFloat32(-65504)), core.Scalar(numeric.HalfFromFloat32(65504))},
	tf.BFloat16: {core.Scalar(tf.BF16(0xff7f)), core.Scalar(tf.BF16(0x7f7f))},
	tf.Int8:     {core.Scalar(int8(math.MinInt8)), core.Scalar(int8(math.MaxInt8))},
	tf.Int16:    {core.Scalar(int16(math.MinInt16)), core.Scalar(int16(math.MaxInt16))},
	tf.Int32:    {core.Scalar(int32(math.MinInt32)), core.Scalar(int32(math.MaxInt32))},
	tf.Int64:    {core.Scalar(int64(math.MinInt64)), core.Scalar(int64(math.MaxInt64))},
	tf.Uint8:    {core.Scalar(uint8(0)), core.Scalar(uint8(math.MaxUint8))},
	tf.Uint16:   {core.Scalar(uint16(0)), core.Scalar(uint16(math.MaxUint16))},
	tf.Uint32:   {core.Scalar(uint32(0)), core.Scalar(uint32(math.MaxUint32))},
	tf.Uint64:   {core.Scalar(uint64(0)), core.Scalar(uint64(math.MaxUint64))},
}

func segmentShape(c *core.Infer) error {
	ids, err := c.Rank(1, 1)
	x := c.In(0)
	if err != nil || x == nil {
		return err
	}
	if len(x) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	if _, ok := mergedDim(x[0], ids[0]); !ok {
		return tf.Errorf(tf.InvalidArgument, "there must be an id for each row: data %v, segment_ids %v", x, ids)
	}
	c.Set(0, append(tf.Shape{-1}, x[1:]...))
	return nil
}

// sortedSegments checks the ids and makes the output, all of it zero.
func sortedSegments(c *core.OpContext) (out *core.Tensor, ids []int64, err error) {
	x, t := c.Input(0), c.Input(1)
	if t.Rank() != 1 {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "segment_ids should be a vector.")
	}
	if x.Rank() == 0 {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "input must be at least rank 1")
	}
	if x.Dim(0) != t.Len() {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "segment_ids should be the same size as dimension 0 of input.")
	}
	ids = rows.Indices(t)
	n, err := lastSegment(ids)
	if err != nil {
		return nil, nil, err
	}
	s := append(tf.Shape{n}, x.Shape()[1:]...)
	if err := checkSegments(ids, s); err != nil {
		return nil, nil, err
	}
	out, err = c.Alloc(0, x.DType(), s)
	if err == nil {
		clearCells(out)
	}
	return out, ids, err
}

// lastSegment returns how many segments there are if the last id is the highest.
func lastSegment(ids []int64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	n := ids[len(ids)-1] + 1
	if n <= 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "segment ids must be >= 0")
	}
	return int(n), nil
}

// checkSegments wants ids that ascend within the first dimension of the output,
// of shape s. They are compared where segments meet, from the first one on, which
// decides what an error tells of.
func checkSegments(ids []int64, s tf.Shape) error {
	if err := checkProduct(s); err != nil {
		return err
	}
	n := int64(s[0])
	for i, id := range ids {
		if last := i == len(ids)-1; !last && ids[i+1] == id {
			continue
		} else if !last && ids[i+1] < id {
			return tf.Errorf(tf.InvalidArgument, "segment ids are not increasing")
		}
		if id < 0 || id >= n {
			return tf.Errorf(tf.InvalidArgument, "Segment id %d out of range [0, %d), possibly because 'segment_ids' input is not sorted.", id, n)
		}
	}
	return nil
}

// checkProduct wants sizes whose product fits into an int64.
func checkProduct(s tf.Shape) error {
	n := int64(1)
	for _, d := range s {
		high, low := bits.Mul64(uint64(n), uint64(d))
		if high != 0 || int64(low) < 0 {
			return overflow(n, d, high, low)
		}
		n = int64(low)
	}
	return nil
}

// overflow tells of a product of two words, which TensorFlow shows if it fits into
// one without a sign.
func overflow(n int64, d int, high, low uint64) error {
	if high != 0 {
		low = math.MaxUint64
	}
	return tf.Errorf(tf.InvalidArgument, "Encountered overflow when multiplying %d with %d, result: %d", n, d, int64(low))
}

// segmentFold combines the rows of each segment by f. Segments without rows
// are empty; the others begin with their first row if that is asked for.
func segmentFold(f rowOp, empty float64, ownFirst bool) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		out, ids, err := sortedSegments(c)
		if err != nil {
			return err
		}
		x, width := c.Input(0), out.Shape()[1:].NumElements()
		if empty != 0 {
			fillWith(out, number(out.DType(), empty))
		}
		join, begin := f(out, x), move(out, x)
		eachSegment(c, ids, width, func(lo, hi int) {
			to := int(ids[lo]) * width
			if ownFirst {
				begin(to, lo*width, width)
				lo++
			}
			for ; lo < hi; lo++ {
				join(to, lo*width, width)
			}
		})
		return nil
	})
}

// extremeSegments returns the kernels of SegmentMax or SegmentMin.
func extremeSegments(by rowOps, fold func(d columns.Down, z, x []float32)) byType {
	kernels := by.kernels(func(f rowOp) core.NewKernel { return segmentFold(f, 0, true) })
	kernels[tf.Float32] = segmentExtreme(fold)
	return kernels
}

// segmentExtreme folds the rows of each segment of float32 by columns.
func segmentExtreme(fold func(d columns.Down, z, x []float32)) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		out, ids, err := sortedSegments(c)
		if err != nil {
			return err
		}
		x, z, width := core.Data[float32](c.Input(0)), core.Data[float32](out), out.Shape()[1:].NumElements()
		eachSegment(c, ids, width, func(lo, hi int) {
			row := z[int(ids[lo])*width:][:width]
			copy(row, x[lo*width:])
			foldRows(fold, row, x[(lo+1)*width:hi*width])
		})
		return nil
	})
}

// eachSegment calls f for the rows [lo, hi) of each segment of sorted ids, of several at a time.
func eachSegment(c *core.OpContext, ids []int64, width int, f func(lo, hi int)) {
	c.ParallelFor(len(ids), max(1, elementGrain/max(1, width)), func(lo, hi int) {
		for lo > 0 && lo < hi && ids[lo] == ids[lo-1] {
			lo++ // of a segment that begins before
		}
		for lo < hi {
			end := segmentEnd(ids, lo)
			f(lo, end)
			lo = end
		}
	})
}

func unsortedFold(f slicesOp, first *core.Tensor) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		x, ids := c.Input(0), c.Input(1)
		n, err := segmentCount(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), append(tf.Shape{n}, x.Shape()[ids.Rank():]...))
		if err != nil {
			return err
		}
		fillWith(out, first)
		if x.Len() == 0 {
			return nil // TensorFlow does not look at the ids of nothing
		}
		to := rows.Indices(ids)
		if err := checkSegmentsBelow(n, to, ids.Shape()); err != nil {
			return err
		}
		f(out, x)(to, 0, product(x.Shape()[ids.Rank():]))
		return nil
	})
}
