package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	cumulative("Cumsum", cumsumGrad, merge(
		floatScans(elementwise.Add[float32], elementwise.Add[float64], 0),
		scans(elementwise.Add[int8], 0), scans(elementwise.Add[int16], 0), scans(elementwise.Add[int32], 0), scans(elementwise.Add[int64], 0),
		scans(elementwise.Add[uint8], 0), scans(elementwise.Add[uint16], 0), scans(elementwise.Add[uint32], 0), scans(elementwise.Add[uint64], 0),
		scans(elementwise.Add[complex64], 0), scans(elementwise.Add[complex128], 0)))
	cumulative("Cumprod", cumprodGrad, merge(
		floatScans(elementwise.Mul[float32], elementwise.Mul[float64], 1),
		scans(elementwise.Mul[int8], 1), scans(elementwise.Mul[int16], 1), scans(elementwise.Mul[int32], 1), scans(elementwise.Mul[int64], 1),
		scans(elementwise.Mul[uint8], 1), scans(elementwise.Mul[uint16], 1), scans(elementwise.Mul[uint32], 1), scans(elementwise.Mul[uint64], 1),
		scans(elementwise.Mul[complex64], 1), scans(elementwise.Mul[complex128], 1)))
}

func cumulative(name string, grad tf.GradFunc, kernels byType) {
	core.Register(core.OpDef{
		Name: name, In: "x: T; axis: Tidx", Out: "out: T",
		Attrs: "exclusive: bool = false; reverse: bool = false; T: {" + reducibleTypes + "}; Tidx: {int32, int64} = int32",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	})
}

// CumulativeOpts are the optional attributes of Cumsum and Cumprod.
type CumulativeOpts struct {
	Exclusive bool // leave the element itself out
	Reverse   bool // begin at the end
}

// Apply sets the attributes.
func (o CumulativeOpts) Apply(s *tf.Spec) {
	s.Set("exclusive", o.Exclusive)
	s.Set("reverse", o.Reverse)
}

// Cumsum returns the running sums of x along an axis.
// Its options are [CumulativeOpts]. x holds numbers: integers, floating-point
// or complex ones; the result has its shape and type, and integers wrap
// around. axis counts from the end if it is negative. An axis that is no
// scalar or not in [-rank, rank) is refused with INVALID_ARGUMENT in the
// step.
func Cumsum[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("Cumsum", opts, x, author.AsInt(x, axis))
}

// Cumprod returns the running products of x along an axis.
// Its options are [CumulativeOpts]. Types, shapes and errors are those of
// Cumsum. The gradient divides by x and counts as 0 where x is 0.
func Cumprod[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("Cumprod", opts, x, author.AsInt(x, axis))
}

// scan is one running fold: rows of inner elements, of which f joins two.
type scan[T tf.Elem] struct {
	join               func(z, x, y []T)
	init               T
	exclusive, reverse bool

	line func(dst, src []T, at, step int, exclusive bool) // of rows of one element, or nil
	// abreast runs along lines of n such rows one beside the other, if join takes less for many.
	abreast func(s *scan[T], dst, src []T, n int)
}

// sumLine sets dst to the running sums of src, from an element on and step by step.
func sumLine[T numeric.Number](dst, src []T, at, step int, exclusive bool) {
	var acc T
	for range src {
		next := acc + src[at]
		if exclusive {
			dst[at] = acc
		} else {
			dst[at] = next
		}
		acc, at = next, at+step
	}
}

// productLine is sumLine for products.
func productLine[T numeric.Number](dst, src []T, at, step int, exclusive bool) {
	var acc T = 1
	for range src {
		next := acc * src[at]
		if exclusive {
			dst[at] = acc
		} else {
			dst[at] = next
		}
		acc, at = next, at+step
	}
}

// run sets dst to the running folds of src, of n rows, from acc on or, if that is nil, from the
// beginning.
func (s *scan[T]) run(dst, src, acc []T, n, inner int) {
	if inner == 1 && s.line != nil {
		step, at := 1, 0
		if s.reverse {
			step, at = -1, n-1
		}
		s.line(dst, src, at, step, s.exclusive)
		return
	}
	if acc == nil {
		acc = core.Make[T](inner)
		kernel.Fill(acc, s.init)
	}
	for i := range n {
		if s.reverse {
			i = n - 1 - i
		}
		in, out := src[i*inner:(i+1)*inner], dst[i*inner:(i+1)*inner]
		if s.exclusive {
			copy(out, acc)
			s.join(acc, acc, in)
		} else {
			s.join(acc, acc, in)
			copy(out, acc)
		}
	}
}

func scanKernel[T tf.Elem](join func(z, x, y []T), init T, line func(dst, src []T, at, step int, exclusive bool)) core.NewKernel {
	return scan[T]{join: join, init: init, line: line}.kernel()
}

func (s scan[T]) kernel() core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		s := s
		s.exclusive, s.reverse = n.Bool("exclusive"), n.Bool("reverse")
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			axis, err := scanAxis(c)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, x.DType(), x.Shape())
			if err != nil || x.Len() == 0 {
				return err
			}
			size, inner := x.Dim(axis), x.Shape()[axis+1:].NumElements()
			block := size * inner
			dst, src := core.Data[T](out), core.Data[T](x)
			c.ParallelFor(x.Len()/block, max(1, elementGrain/block), func(lo, hi int) {
				if inner == 1 && s.abreast != nil {
					s.abreast(&s, dst[lo*block:hi*block], src[lo*block:hi*block], size)
					return
				}
				for o := lo; o < hi; o++ {
					s.run(dst[o*block:(o+1)*block], src[o*block:(o+1)*block], nil, size, inner)
				}
			})
			return nil
		}), nil
	}
}

func scanAxis(c *core.OpContext) (int, error) {
	if c.Input(1).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "ScanOp: axis must be a scalar, not %s", c.Input(1).Shape().String())
	}
	v, err := c.Input(1).Ints()
	if err != nil {
		return 0, err
	}
	rank := c.Input(0).Rank()
	axis, ok := wrapAxis(v[0], rank)
	if !ok {
		if v[0] < 0 {
			v[0] += rank // as TensorFlow shows it
		}
		return 0, tf.Errorf(tf.InvalidArgument, "ScanOp: Expected scan axis in the range [%d, %d), but got %d", -rank, rank, v[0])
	}
	return axis, nil
}

func scans[T interface {
	numeric.Number
	tf.Elem
}](join func(z, x, y []T), init T) byType {
	line := sumLine[T]
	if init == 1 {
		line = productLine[T]
	}
	return byType{tf.TypeOf[T](): scanKernel(join, init, line)}
}

func floatScans(f32 func(z, x, y []float32), f64 func(z, x, y []float64), init float32) byType {
	return merge(scans(f32, init), scans(f64, float64(init)), byType{
		tf.Float16:  scanKernel(func(z, x, y []tf.Half) { elementwise.Widen2(z, x, y, f32) }, numeric.HalfFromFloat32(init), nil),
		tf.BFloat16: scanKernel(func(z, x, y []tf.BF16) { elementwise.Widen2(z, x, y, f32) }, numeric.BFloat16FromFloat32(init), nil),
	})
}

func cumsumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	opts := CumulativeOpts{op.Bool("exclusive"), !op.Bool("reverse")}
	return append(tf.Grads(Cumsum(dy[0], op.Input(1), opts)), tf.Gradient{})
}

func cumprodGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, axis := op.Input(0), op.Input(1)
	opts := CumulativeOpts{op.Bool("exclusive"), op.Bool("reverse")}
	prod := Cumprod(x, axis, opts)
	opts.Reverse = !opts.Reverse
	sum := Cumsum(Mul(prod, dy[0]), axis, opts)
	return append(tf.Grads(DivNoNan(sum, x)), tf.Gradient{})
}
