package signal

import (
	"math/cmplx"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A kind is what a transform is of: complex numbers, or real numbers on one
// side, of whose spectrum only half is there.
type kind struct {
	real, inverse bool
}

// A spectrum is a kernel's work: the last dimensions of a tensor, of which
// each is transformed.
type spectrum struct {
	kind
	in, out tf.Shape // of the tensors
	lengths []int    // of the transforms
	plans   *transforms
}

// half is the size of the spectrum of n real numbers.
func half(n int) int {
	if n == 0 {
		return 0
	}
	return n/2 + 1
}

// outer returns the number of dimensions that are not transformed.
func (s *spectrum) outer() int { return len(s.in) - len(s.lengths) }

// grain is about how many elements are worth a task of their own.
const grain = 4 << 10

// compute transforms the elements x of a tensor.
func (s *spectrum) compute(c *core.OpContext, x any) []complex128 {
	shape := append(s.in[:s.outer()].Clone(), s.lengths...)
	last := len(shape) - 1
	if s.real && s.inverse {
		shape[last] = half(shape[last])
	}
	z := s.load(x, shape)
	if s.real && !s.inverse {
		s.axis(c, z, shape, last)
		z, shape[last] = halved(z, shape[last]), half(shape[last])
	}
	for axis := s.outer(); axis < last; axis++ {
		s.axis(c, z, shape, axis)
	}
	switch {
	case s.real && s.inverse:
		n := s.lengths[len(s.lengths)-1]
		z, shape[last] = whole(z, shape[last], n), n
		s.axis(c, z, shape, last)
	case !s.real:
		s.axis(c, z, shape, last)
	}
	return z
}

// load returns the elements x of the input, cut or filled up with zeros to a
// shape.
func (s *spectrum) load(x any, shape tf.Shape) []complex128 {
	all := core.Make[complex128](s.in.NumElements())
	elementwise.Cast(all, x)
	if shape.Equal(s.in) {
		return all
	}
	z := core.Make[complex128](shape.NumElements())
	common := shape.Clone()
	for i, n := range s.in {
		common[i] = min(n, shape[i])
	}
	layout.CopyNumbers(kernel.Serial, z, layout.Dense(shape), all, layout.Dense(s.in), common)
	return z
}

// axis transforms z along one dimension.
func (s *spectrum) axis(c *core.OpContext, z []complex128, shape tf.Shape, axis int) {
	n, inner := shape[axis], shape[axis+1:].NumElements()
	if n <= 1 || inner == 0 {
		return
	}
	t := s.plans.any.get(n, newTransform)
	c.ParallelFor(len(z)/n, max(1, grain/n), func(lo, hi int) {
		line, scratch := core.Make[complex128](n), core.Make[complex128](t.room())
		for k := lo; k < hi; k++ {
			s.line(t, z[k/inner*n*inner+k%inner:], inner, line, scratch)
		}
	})
}

// line transforms every element of z that is a multiple of step away. The
// inverse is the conjugate of the conjugate's transform, divided by n.
func (s *spectrum) line(t *transform, z []complex128, step int, line, scratch []complex128) {
	for i := range line {
		line[i] = z[i*step]
	}
	if s.inverse {
		conjugate(line, 1)
	}
	t.apply(line, scratch)
	if s.inverse {
		conjugate(line, 1/float64(t.n))
	}
	for i, v := range line {
		z[i*step] = v
	}
}

func conjugate(x []complex128, scale float64) {
	for i, v := range x {
		x[i] = complex(real(v)*scale, -imag(v)*scale)
	}
}

// halved keeps the first half of every line of n.
func halved(z []complex128, n int) []complex128 {
	h := half(n)
	out := core.Make[complex128](len(z) / n * h)
	for k := range len(z) / n {
		copy(out[k*h:(k+1)*h], z[k*n:])
	}
	return out
}

// whole returns spectra of n real numbers, given h elements of each.
func whole(z []complex128, h, n int) []complex128 {
	out := core.Make[complex128](len(z) / h * n)
	for k := range len(z) / h {
		from, to := z[k*h:(k+1)*h], out[k*n:(k+1)*n]
		copy(to, from)
		for i := h; i < n; i++ {
			to[i] = cmplx.Conj(from[n-i])
		}
	}
	return out
}
