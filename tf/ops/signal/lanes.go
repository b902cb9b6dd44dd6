package signal

import (
	"github.com/gorge-tf/gorge/internal/kernel/fft"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// leastLines are transformed together; fewer would leave most of a vector empty.
const leastLines = 4

// lanes transforms lines of numbers many at a time, in their own precision, as
// TensorFlow does, then columns along the dimensions before the last; the inverse of
// real numbers ends with lines. It reports false for what it does not do: few lines or
// columns, dimensions that are cut or filled up, lengths with large factors, double
// precision without vector loops, which one line at a time is faster.
func (s *spectrum) lanes(c *core.OpContext, out *core.Tensor) bool {
	switch c.Input(0).DType() {
	case tf.Float32, tf.Complex64:
		return inLanes(s, c, &s.plans.single, single(out), single(c.Input(0)))
	}
	if !fft.DoubleLoops() {
		return false
	}
	return inLanes(s, c, &s.plans.double, double(out), double(c.Input(0)))
}

// single returns the parts of numbers.
func single(t *core.Tensor) []float32 {
	if t.DType() == tf.Float32 {
		return core.Data[float32](t)
	}
	return fft.Complex64(core.Data[complex64](t))
}

func double(t *core.Tensor) []float64 {
	if t.DType() == tf.Float64 {
		return core.Data[float64](t)
	}
	return fft.Complex128(core.Data[complex128](t))
}

// lanePlans are of lines and of columns.
type lanePlans[T fft.Real] struct {
	lines, columns recent[*fft.FFT[T]]
}

func inLanes[T fft.Real](s *spectrum, c *core.OpContext, plans *lanePlans[T], out, in []T) bool {
	last := len(s.lengths) - 1
	n, width := s.lengths[last], s.in[len(s.in)-1]
	needed := n
	if s.real && s.inverse {
		needed = half(n)
	}
	if width < needed || s.in[:len(s.in)-1].NumElements() < leastLines {
		return false
	}
	plan := fft.NewComplexFFT[T]
	if s.real {
		plan = fft.NewRealFFT[T]
	}
	f, columns := plans.lines.get(n, plan), plans.columnsOf(s)
	if f == nil || len(columns) != last {
		return false
	}
	switch {
	case !s.real:
		f.Complex(c.ParallelFor, out, in, width, s.inverse)
		transformColumns(s, c, columns, out, out, n)
	case s.inverse:
		x := in
		if last > 0 {
			x = core.Borrow[T](c, len(x))
			transformColumns(s, c, columns, x, in, width)
		}
		f.InverseReal(c.ParallelFor, out, x, width)
	default:
		f.Real(c.ParallelFor, out, in, width)
		transformColumns(s, c, columns, out, out, half(n))
	}
	return true
}

// columnsOf returns the plans of the dimensions that are transformed, without the last;
// fewer if one of these dimensions cannot be transformed in lanes.
func (p *lanePlans[T]) columnsOf(s *spectrum) (plans []*fft.FFT[T]) {
	for i, n := range s.lengths[:len(s.lengths)-1] {
		f := p.columns.get(n, fft.NewComplexFFT[T])
		if f == nil || s.in[s.outer()+i] != n || s.lengths[len(s.lengths)-1] < 2*leastLines {
			return plans
		}
		plans = append(plans, f)
	}
	return plans
}

// transformColumns transforms x, whose last dimension is width, along the dimensions
// of the plans. y may be x.
func transformColumns[T fft.Real](s *spectrum, c *core.OpContext, plans []*fft.FFT[T], y, x []T, width int) {
	inner := width
	for i := len(plans) - 1; i >= 0; i-- {
		plans[i].Columns(c.ParallelFor, y, x, inner, s.inverse)
		inner, x = inner*s.lengths[i], y
	}
}
