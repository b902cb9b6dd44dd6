package ops

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, name := range []string{"LowerBound", "UpperBound"} {
		upper := name == "UpperBound"
		core.Register(core.OpDef{
			Name: name, In: "sorted_inputs: T; values: T", Out: "output: out_type", Attrs: "T: type; out_type: {int32, int64} = int32",
			Shape: boundShape, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("T", byType{
				tf.Float32: bound(upper, dataOf[float32]), tf.Float64: bound(upper, dataOf[float64]),
				tf.Float16: bound(upper, wide[tf.Half]), tf.BFloat16: bound(upper, wide[tf.BF16]),
				tf.Int8: bound(upper, dataOf[int8]), tf.Int16: bound(upper, dataOf[int16]), tf.Int32: bound(upper, dataOf[int32]), tf.Int64: bound(upper, dataOf[int64]),
				tf.Uint8: bound(upper, dataOf[uint8]), tf.Uint16: bound(upper, dataOf[uint16]), tf.Uint32: bound(upper, dataOf[uint32]), tf.Uint64: bound(upper, dataOf[uint64]),
			}),
		})
	}
}

// BoundOpts is the optional attribute of LowerBound and UpperBound: the type of
// the result, Int64 or, which is the default, Int32.
type BoundOpts struct{ OutType tf.DType }

// Apply sets the attributes.
func (o BoundOpts) Apply(s *tf.Spec) {
	if o.OutType != tf.Invalid {
		s.Set("out_type", o.OutType)
	}
}

// LowerBound returns, for each element of the rows of values, how many elements
// of the same row of sorted are less. sorted and values are matrices with
// equally many rows, of one type of real numbers; that sorted is sorted is not
// checked. The result has the shape of values and is int32 or int64. Other
// ranks are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step, and different numbers of rows in the step.
// Its options are [BoundOpts].
func LowerBound(sorted, values tf.Output, opts ...tf.Option) tf.Output {
	return apply("LowerBound", opts, sorted, values)
}

// UpperBound returns, for each element of the rows of values, how many elements
// of the same row of sorted are not greater. sorted and values are matrices
// with equally many rows, of one type of real numbers; that sorted is sorted is
// not checked. The result has the shape of values and is int32 or int64. Other
// ranks are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step, and different numbers of rows in the step.
// Its options are [BoundOpts].
func UpperBound(sorted, values tf.Output, opts ...tf.Option) tf.Output {
	return apply("UpperBound", opts, sorted, values)
}

func boundShape(c *core.Infer) error {
	if _, err := c.Rank(0, 2); err != nil {
		return err
	}
	s, err := c.Rank(1, 2)
	c.Set(0, s)
	return err
}

func checkBound(sorted, values *core.Tensor, d tf.DType) error {
	const mostRows = 1<<31 - 1
	switch {
	case sorted.Rank() != 2:
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 2 but is rank %d for `sorted_inputs` argument", sorted.Rank())
	case values.Rank() != 2:
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 2 but is rank %d for `values` argument", values.Rank())
	case sorted.Dim(0) != values.Dim(0):
		return tf.Errorf(tf.InvalidArgument, "Leading dim_size of both tensors must match.")
	case d == tf.Int32 && values.Len() > mostRows:
		return tf.Errorf(tf.InvalidArgument, "values tensor size must less than INT_MAX")
	case d == tf.Int32 && sorted.Dim(1) > mostRows:
		return tf.Errorf(tf.InvalidArgument, "trailing dim_size must less than INT_MAX for int32 output type, was %d", sorted.Dim(1))
	}
	return nil
}

func bound[T numeric.Real](upper bool, load func(*core.OpContext, *core.Tensor) []T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("out_type")
		return core.Compute(func(c *core.OpContext) error {
			sorted, values := c.Input(0), c.Input(1)
			if err := checkBound(sorted, values, d); err != nil {
				return err
			}
			out, err := c.Alloc(0, d, values.Shape())
			if err != nil || out.Len() == 0 {
				return err
			}
			at, rows := core.Borrow[int](c, out.Len()), sorted.Dim(1)
			width := values.Dim(1)
			x, v := load(c, sorted), load(c, values)
			c.ParallelFor(len(at), elementGrain/16, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					row := i / width
					at[i] = insertionPoint(x[row*rows:(row+1)*rows], v[i], upper)
				}
			})
			return fillInts(out, at)
		}), nil
	}
}

// insertionPoint returns where v belongs in sorted: before or after its equals. Which half is next
// is computed, not branched on, so the processor searches for several values at a time.
func insertionPoint[T numeric.Real](sorted []T, v T, upper bool) int {
	lo, hi := 0, len(sorted)
	for upper && lo < hi {
		mid := int(uint(lo+hi) >> 1)
		lo, hi = halfOf(lo, mid, hi, oneIf(v < sorted[mid]))
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		lo, hi = halfOf(lo, mid, hi, 1-oneIf(sorted[mid] < v))
	}
	return lo
}

// halfOf is lo, mid if lower is 1, and mid+1, hi if it is 0.
func halfOf(lo, mid, hi, lower int) (int, int) {
	return lo + (mid+1-lo)&(lower-1), mid + (hi-mid)&(lower-1)
}

// oneIf is 1 for true, without a branch.
func oneIf(v bool) int {
	n := 0
	if v {
		n = 1
	}
	return n
}
