package signal

import (
	"github.com/gorge-tf/gorge/internal/kernel/fft"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// leastLines are transformed together in single precision; fewer would leave most of
// a vector empty.
const leastLines = 4

// single transforms lines of numbers of single precision as such, many at a time, as
// TensorFlow does, then columns along the dimensions before the last; the inverse of
// real numbers ends with lines. It reports false for what it does not do: other types,
// few lines or columns, dimensions that are cut or filled up, lengths with large factors.
func (s *spectrum) single(c *core.OpContext, out *core.Tensor) bool {
	in := c.Input(0)
	if d := in.DType(); d != tf.Float32 && d != tf.Complex64 {
		return false
	}
	last := len(s.lengths) - 1
	n, width := s.lengths[last], s.in[len(s.in)-1]
	needed := n
	if s.real && s.inverse {
		needed = half(n)
	}
	if width < needed || s.in[:len(s.in)-1].NumElements() < leastLines {
		return false
	}
	f, columns := s.plans.single.get(n, s.plan), s.columns()
	if f == nil || len(columns) != last {
		return false
	}
	switch {
	case !s.real:
		f.Complex(c.ParallelFor, core.Data[complex64](out), core.Data[complex64](in), width, s.inverse)
		s.transformColumns(c, columns, core.Data[complex64](out), core.Data[complex64](out), n)
	case s.inverse:
		x := core.Data[complex64](in)
		if last > 0 {
			x = core.Make[complex64](len(x))
			s.transformColumns(c, columns, x, core.Data[complex64](in), width)
		}
		f.InverseReal(c.ParallelFor, core.Data[float32](out), x, width)
	default:
		f.Real(c.ParallelFor, core.Data[complex64](out), core.Data[float32](in), width)
		s.transformColumns(c, columns, core.Data[complex64](out), core.Data[complex64](out), half(n))
	}
	return true
}

// columns returns the plans of the dimensions that are transformed, without the last;
// fewer if one of these dimensions cannot be transformed in single precision.
func (s *spectrum) columns() (plans []*fft.FFT) {
	for i, n := range s.lengths[:len(s.lengths)-1] {
		f := s.plans.columns.get(n, fft.NewComplexFFT)
		if f == nil || s.in[s.outer()+i] != n || s.lengths[len(s.lengths)-1] < 2*leastLines {
			return plans
		}
		plans = append(plans, f)
	}
	return plans
}

// transformColumns transforms x, whose last dimension is width, along the dimensions
// of the plans. y may be x.
func (s *spectrum) transformColumns(c *core.OpContext, plans []*fft.FFT, y, x []complex64, width int) {
	inner := width
	for i := len(plans) - 1; i >= 0; i-- {
		plans[i].Columns(c.ParallelFor, y, x, inner, s.inverse)
		inner, x = inner*s.lengths[i], y
	}
}

func (k kind) plan(n int) *fft.FFT {
	if k.real {
		return fft.NewRealFFT(n)
	}
	return fft.NewComplexFFT(n)
}
