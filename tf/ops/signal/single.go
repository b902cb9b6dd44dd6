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
// TensorFlow does. It reports false for what it does not do: other types, several
// dimensions, few lines, lengths with large factors.
func (s *spectrum) single(c *core.OpContext, out *core.Tensor) bool {
	in := c.Input(0)
	if d := in.DType(); d != tf.Float32 && d != tf.Complex64 || len(s.lengths) != 1 {
		return false
	}
	n, width := s.lengths[0], s.in[len(s.in)-1]
	needed := n
	if s.real && s.inverse {
		needed = half(n)
	}
	if width < needed || s.in[:s.outer()].NumElements() < leastLines {
		return false
	}
	f := s.plans.single.get(n, s.plan)
	if f == nil {
		return false
	}
	switch {
	case !s.real:
		f.Complex(c.ParallelFor, core.Data[complex64](out), core.Data[complex64](in), width, s.inverse)
	case s.inverse:
		f.InverseReal(c.ParallelFor, core.Data[float32](out), core.Data[complex64](in), width)
	default:
		f.Real(c.ParallelFor, core.Data[complex64](out), core.Data[float32](in), width)
	}
	return true
}

func (k kind) plan(n int) *fft.FFT {
	if k.real {
		return fft.NewRealFFT(n)
	}
	return fft.NewComplexFFT(n)
}
