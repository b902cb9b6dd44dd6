package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops" // whose shape functions serve here too
)

// A Quantized is quantized numbers and the bounds of the range that they stand
// for, which are scalars.
type Quantized struct{ Values, Min, Max tf.Output }

// quantizedOf adds an operation whose outputs are numbers and their range.
func quantizedOf(op string, opts []tf.Option, in ...tf.Output) Quantized {
	o := tf.Apply(nil, op, in, opts...)
	return Quantized{o.Output(0), o.Output(1), o.Output(2)}
}

// span is a range that quantized numbers stand for.
type span struct{ lo, hi float32 }

// steps returns how many quantized numbers there are.
func steps[Q quantum]() float64 { return float64(highest64[Q]()-lowest64[Q]()) + 1 }

// perUnit returns how many quantized numbers there are to 1.
func perUnit[Q quantum](r span) float64 {
	n := steps[Q]()
	return n / (float64(r.hi-r.lo) * (n / (n - 1)))
}

// whole converts a whole number as x86 does: what does not fit becomes the
// least one.
func whole(x float64) int64 {
	if x >= -1<<63 && x < 1<<63 {
		return int64(x)
	}
	return math.MinInt64
}

// unbounded returns the quantized number for x in range r, be it one of Q's or
// not.
func unbounded[Q quantum](x float32, r span) int64 {
	if r.lo == r.hi {
		return lowest64[Q]()
	}
	scale := perUnit[Q](r)
	n := whole(math.Round(float64(x)*scale) - math.Round(float64(r.lo)*scale))
	return max(n, math.MinInt64-lowest64[Q]()) + lowest64[Q]() // the least one does not wrap around
}

// quantized returns the number of Q for x in range r.
func quantized[Q quantum](x float32, r span) Q {
	return Q(min(max(unbounded[Q](x, r), lowest64[Q]()), highest64[Q]()))
}

// meaning returns what q stands for in range r.
func meaning[Q quantum](q Q, r span) float32 {
	if r.lo == r.hi {
		return r.lo
	}
	n := steps[Q]()
	step := float64(r.hi-r.lo) * (n / (n - 1)) / n
	origin := roundAway(r.lo/float32(step)) * float32(step)
	return float32(float64(origin) + (float64(throughFloat32(q)-lowest64[Q]()))*step)
}

// throughFloat32 converts a quantized number as TensorFlow's type for those of 32
// bits does: by way of float32, which loses the last bits of large ones.
func throughFloat32[Q quantum](q Q) int64 { return int64(float32(q)) }

// level returns how far the numbers of Q are apart in range r.
func level[Q quantum](r span) float32 { return (r.hi - r.lo) / float32(highest64[Q]()-lowest64[Q]()) }

// productSpan returns the range that products, of 32 bits, of numbers that are
// so far apart stand for.
func productSpan(a, b float32) span {
	step := a * b
	return span{step * lowest[int32](), step * highest[int32]()}
}

// An affine tells what quantized numbers stand for: base + q*step. It is how
// TensorFlow's vector code does what meaning does.
type affine struct{ base, step float32 }

func affineOf[Q quantum](r span) affine {
	f := minFirst[Q](r)
	step := f.step()
	return affine{f.origin() - lowest[Q]()*step, step}
}

// inQuanta sets y to the numbers of Q for those of P in another range.
func inQuanta[Q quantum, P int8 | uint8 | int16 | uint16 | int32 | float32](y []Q, x []P, from affine, to span) {
	f := minFirst[Q](to)
	scale := f.perUnit()
	offset := roundAway(to.lo*scale) - lowest[Q]()
	kernel.Map2(y, x, func(v P) Q {
		return bounded[Q](roundAway((from.base+float32(v)*from.step)*scale) - offset)
	})
}

// bounded is saturated but that 32-bit numbers end at the last one that float32
// has.
func bounded[Q quantum](x float32) Q {
	if top := int64(math.MaxInt32 - 127); x >= float32(top) && highest64[Q]() > top {
		return Q(top)
	}
	return saturated[Q](x)
}

// scalarNames are what messages call inputs that must be scalars, by their
// numbers.
type scalarNames struct {
	first int
	names []string
	text  string // with the name and what is wrong
}

// check refuses inputs of another rank.
func (s scalarNames) check(c *core.OpContext) error {
	for i, name := range s.names {
		if t := c.Input(s.first + i); t.Rank() != 0 {
			return invalid(s.text, name, t.Rank())
		}
	}
	return nil
}

// inRank0 says that inputs must be of rank 0.
func inRank0(first int, names ...string) scalarNames {
	return scalarNames{first, names, "`%s` must be rank 0 but is rank %d"}
}

// spanAt returns the range that inputs i and i+1 are.
func spanAt(c *core.OpContext, i int) span {
	return span{core.Data[float32](c.Input(i))[0], core.Data[float32](c.Input(i + 1))[0]}
}

// setSpan makes outputs 1 and 2 the bounds of r.
func setSpan(c *core.OpContext, r span) error { return setSpanAt(c, 1, r) }

func setSpanAt(c *core.OpContext, first int, r span) error {
	for i, v := range []float32{r.lo, r.hi} {
		t, err := c.Alloc(first+i, tf.Float32, tf.Shape{})
		if err != nil {
			return err
		}
		core.Data[float32](t)[0] = v
	}
	return nil
}

// scalarShapes wants the inputs from first on to be scalars, and makes all
// outputs but the first ones scalars.
func scalarShapes(c *core.Infer, first, outputs int) error {
	for i := first; i < c.NumIn(); i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	for i := outputs; i < c.NumOut(); i++ {
		c.Set(i, tf.Shape{})
	}
	return nil
}

// withSpan is the shape function of an op whose output 0 has the shape that f
// gives and whose inputs from first on are ranges.
func withSpan(first int, f func(*core.Infer) error) func(*core.Infer) error {
	return func(c *core.Infer) error {
		if err := f(c); err != nil {
			return err
		}
		return scalarShapes(c, first, 1)
	}
}

// only restricts a kernel to nodes with type attributes of these values, beside
// the one that chooses the kernel.
func only(k core.NewKernel, types map[string]tf.DType) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		for attr, want := range types {
			if got := n.Type(attr); got != want {
				return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr %s = %v; types supported: %v", n.OpName(), attr, got, want)
			}
		}
		return k(n)
	}
}

// shapeOf returns the shape function of an op for floating-point numbers, whose
// attributes are called the same.
func shapeOf(op string) func(*core.Infer) error { return core.Lookup(op).Shape }
