package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "HistogramFixedWidth", In: "values: T; value_range: T; nbins: int32", Out: "out: dtype",
		Attrs: "T: {int32, int64, float, double}; dtype: {int32, int64} = int32",
		Shape: histogramShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Int32: histogram[int32], tf.Int64: histogram[int64], tf.Float32: histogram[float32], tf.Float64: histogram[float64],
		}),
	})
}

// HistogramOpts is the optional attribute of HistogramFixedWidth: the type of
// the result, Int64 or, which is the default, Int32.
type HistogramOpts struct{ DType tf.DType }

// Apply sets the attributes.
func (o HistogramOpts) Apply(s *tf.Spec) {
	if o.DType != tf.Invalid {
		s.Set("dtype", o.DType)
	}
}

// HistogramFixedWidth counts how many elements of x lie in each of bins
// parts, of equal width, of a range [low, high]. What lies beyond counts to
// the first or the last. Its options are [HistogramOpts]. x, of any shape,
// and valueRange, a vector of two elements, have one type: int32, int64,
// float32 or float64. bins is an int32 scalar, and the result a vector of
// bins elements, int32 or int64. A bins that is not positive is refused with
// INVALID_ARGUMENT, when the graph is built if it is constant, else in the
// step. The step refuses with that code a low that is not less than high and,
// with more than one bin, NaN in x.
func HistogramFixedWidth(x, valueRange, bins tf.Output, opts ...tf.Option) tf.Output {
	return apply("HistogramFixedWidth", opts, x, valueRange, bins)
}

func histogramShape(c *core.Infer) error {
	if _, err := c.Rank(1, 1); err != nil {
		return err
	}
	if _, err := c.Rank(2, 0); err != nil {
		return err
	}
	n := -1
	if v, ok := c.ConstInts(2); ok && len(v) == 1 {
		if n = v[0]; n <= 0 {
			return tf.Errorf(tf.InvalidArgument, "Requires nbins > 0: %d", n)
		}
	}
	c.Set(0, tf.Shape{n})
	return nil
}

func histogram[T interface {
	numeric.Real
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		ends := c.Input(1)
		if ends.Rank() != 1 || ends.Len() != 2 {
			return tf.Errorf(tf.InvalidArgument, "value_range should be a vector of 2 elements.")
		}
		low, high := core.Data[T](ends)[0], core.Data[T](ends)[1]
		if !(low < high) {
			return tf.Errorf(tf.InvalidArgument, "value_range should satisfy value_range[0] < value_range[1], but got '[%v, %v]'", low, high)
		}
		if c.Input(2).Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "nbins should be a scalar.")
		}
		bins, err := scalarInt(c.Input(2), "nbins")
		if err != nil {
			return err
		}
		if bins <= 0 {
			return tf.Errorf(tf.InvalidArgument, "nbins should be a positive number, but got '%d'", bins)
		}
		out, err := c.Alloc(0, d, tf.Shape{bins})
		if err != nil {
			return err
		}
		counts := core.Make[int](bins)
		if !countBins(counts, core.Data[T](c.Input(0)), low, high) {
			return tf.Errorf(tf.InvalidArgument, "Histogram values must not contain NaN")
		}
		return fillInts(out, counts)
	}), nil
}

// countBins counts x to bins. It reports false for NaN where there are several bins.
func countBins[T numeric.Real](counts []int, x []T, low, high T) bool {
	x32, ok := any(x).([]float32)
	if !ok {
		return countWide(counts, x, low, high)
	}
	// A vector loop widens floats: the instruction for one of them waits for the last use of its register, here for
	// all that is done to the float before.
	buf := core.Make[float64](min(len(x), histogramBlock))
	for len(x32) > 0 {
		block := buf[:min(len(buf), len(x32))]
		elementwise.Cast(block, x32[:len(block)])
		if !countWide(counts, block, float64(low), float64(high)) {
			return false
		}
		x32 = x32[len(block):]
	}
	return true
}

// histogramBlock floats are in the first-level cache, as float64 too.
const histogramBlock = 1 << 10

func countWide[T numeric.Real](counts []int, x []T, low, high T) bool {
	bins, from := len(counts), float64(low)
	step := float64(high)/float64(bins) - from/float64(bins) // a difference might not fit into the type
	inverse, last := 1/step, bin((float64(high)-from)/step, bins)
	for _, v := range x {
		d := float64(v) - from
		if place := d * inverse; insideBin(place) && int(place) < bins {
			counts[int(place)]++
			continue
		}
		at := 0
		switch {
		case v >= high:
			at = last
		case v > low:
			at = bin(d/step, bins)
		case v != v && bins > 1:
			return false
		}
		counts[at]++
	}
	return true
}

// nearBin is more than the rounding error of products as large as the number of bins, an int32.
const nearBin = 1e-5

// insideBin reports whether a product with 1/step, at least 0, tells the bin as well as the slow division by step.
// It is false for what is not a number.
func insideBin(place float64) bool {
	rest := place - float64(int(place))
	return rest > nearBin && rest < 1-nearBin
}

// bin returns the number of the bin at x widths of a bin.
func bin(x float64, bins int) int {
	switch {
	case x >= float64(bins-1):
		return bins - 1
	case x > 0:
		return int(x)
	}
	return 0 // also what is not a number
}
