package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "NthElement", In: "input: T; n: int32", Out: "values: T", Attrs: "reverse: bool = false; T: {" + poolableTypes + "}",
		Shape: nthElementShape, Grad: tf.GradFunc(nthElementGrad), Kernels: core.ByType("T", everyReal(nthElements)),
	})
	core.Register(core.OpDef{
		Name: "IsotonicRegression", In: "input: T", Out: "output: output_dtype; segments: int32",
		Attrs: "T: {" + poolableTypes + "}; output_dtype: {half, bfloat16, float, double} = DT_FLOAT",
		Shape: isotonicShape, Grad: tf.GradFunc(isotonicGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: isotonic(asItself[float32](), asItself[float32](), tf.Float32), tf.Float64: isotonic(asItself[float64](), asItself[float64](), tf.Float64),
			tf.Float16: isotonic(asFloat32[tf.Half](), asFloat32[tf.Half](), tf.Float16), tf.BFloat16: isotonic(asFloat32[tf.BF16](), asFloat32[tf.BF16](), tf.BFloat16),
			tf.Int8: isotonic(asItself[int8](), asItself[float32](), tf.Float32), tf.Int16: isotonic(asItself[int16](), asItself[float32](), tf.Float32),
			tf.Int32: isotonic(asItself[int32](), asItself[float64](), tf.Float64), tf.Int64: isotonic(asItself[int64](), asItself[float64](), tf.Float64),
		}),
	})
}

// NthElementOpts are the optional attributes of NthElement: Reverse counts from
// the greatest.
type NthElementOpts struct{ Reverse bool }

// Apply sets the attributes.
func (o NthElementOpts) Apply(s *tf.Spec) { s.Set("reverse", o.Reverse) }

// NthElement returns the element of each row of x, the last dimension, that
// would be at position n if the row were sorted. The result has the shape of
// x without its last dimension. x holds real numbers (floating-point numbers
// and integers of 8 to 64 bits) and has one dimension or more; NaN comes
// before all other numbers. n is an int32 scalar; a negative one, or one that
// the last dimension does not reach, is refused with INVALID_ARGUMENT, when
// the graph is built if it is known, else in the step.
// Its options are [NthElementOpts].
func NthElement(x, n tf.Output, opts ...tf.Option) tf.Output { return apply("NthElement", opts, x, n) }

// IsotonicRegression returns the rows nearest to those of x that do not
// increase, as type d, and the numbers of the stretches of equal elements.
// Rows are along the last dimension; both results have the shape of x, and
// segments is int32, counted from 0 in each row. d is the type of
// floating-point x, float32 for int8 and int16, and float64 for int32 and
// int64; other pairs of types are refused in the step with NOT_FOUND. A
// scalar is refused with INVALID_ARGUMENT if its shape is known when the
// graph is built. The method is the pooling of adjacent violators (Ayer et
// al., 1955).
func IsotonicRegression(x tf.Output, d tf.DType, opts ...tf.Option) (y, segments tf.Output) {
	out := outputs(2, "IsotonicRegression", tf.Join(opts, tf.Attr("output_dtype", d)), x)
	return out[0], out[1]
}

func nthElementShape(c *core.Infer) error {
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	if n, ok := c.ConstInts(1); ok && len(n) == 1 {
		if err := checkNth(s, n[0]); err != nil {
			return err
		}
	}
	c.Set(0, s[:len(s)-1])
	return nil
}

func checkNth(s tf.Shape, n int) error {
	if n < 0 {
		return tf.Errorf(tf.InvalidArgument, "n must be non-negative but is %d", n)
	}
	if width := s[len(s)-1]; width >= 0 && width <= n {
		return tf.Errorf(tf.InvalidArgument, "Input must have last dimension > n = %d", n)
	}
	return nil
}

func nthElements() realPool {
	return realPool{
		f32: nthElement[float32], f64: nthElement[float64], i8: nthElement[int8], i16: nthElement[int16], i32: nthElement[int32],
		i64: nthElement[int64], u8: nthElement[uint8], u16: nthElement[uint16], u32: nthElement[uint32], u64: nthElement[uint64],
	}
}

func nthElement[T numeric.Real](k computedIn[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		reverse := n.Bool("reverse")
		return core.Compute(func(c *core.OpContext) error {
			x, at := c.Input(0), c.Input(1)
			if at.Rank() != 0 {
				return tf.Errorf(tf.InvalidArgument, "N must be scalar but has rank %d", at.Rank())
			}
			nth, s := int(core.Data[int32](at)[0]), x.Shape()
			if nth >= 0 && len(s) == 0 {
				return tf.Errorf(tf.InvalidArgument, "Input must be at least rank 1 but is rank 0")
			}
			if err := checkNth(append(tf.Shape{-1}, s...), nth); err != nil {
				return err
			}
			width := s[len(s)-1]
			if reverse {
				nth = width - nth - 1
			}
			out, y, err := k.alloc(c, 0, x.DType(), s[:len(s)-1].Clone())
			if err != nil {
				return err
			}
			nthOfRows(c, y, k.load(c, x), width, nth)
			k.finish(out, y)
			return nil
		}), nil
	}
}

func nthOfRows[T numeric.Real](c *core.OpContext, y, x []T, width, nth int) {
	c.ParallelFor(len(y), max(1, elementGrain/(8*width)), func(lo, hi int) {
		row := core.Make[T](width)
		for i := lo; i < hi; i++ {
			copy(row, x[i*width:])
			slices.Sort(row)
			y[i] = row[nth]
		}
	})
}

// nthElementGrad shares the gradient among the elements that are equal to the
// one chosen.
func nthElementGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, last := op.Input(0), intScalar(dy[0], tf.Int32, -1)
	chosen := castTo(Equal(ExpandDims(op.Output(0), last), x), dy[0].DType())
	count := ExpandDims(Sum(chosen, last), last)
	return tf.Grads(Mul(apply("RealDiv", nil, chosen, count), ExpandDims(dy[0], last)), tf.Output{})
}
