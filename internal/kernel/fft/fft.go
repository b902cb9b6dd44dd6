package fft

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// fftLanes lines are transformed together: element j of all of them is a block of
// their real parts, then of their imaginary parts. A loop over lanes needs no shuffles
// and has one root for all of them.
const (
	fftLanes = 16
	fftBlock = 2 * fftLanes
)

// mostFFT is the longest complex transform: one pass goes on without a pause for the
// scheduler.
const mostFFT = 1 << 15

// leastFFT is the shortest complex transform that is worth the way into lanes.
const leastFFT = 4

// An FFT transforms lines of one length in single precision; its roots are computed
// in double precision. It may be shared.
type FFT struct {
	n       int // of the complex transform
	passes  []fftPass
	split   []float32 // e^(-2πi·k/2n) for k ≤ n/2, for lines of 2n real numbers
	scratch sync.Pool // of *fftScratch
}

// fftPass is a step of Stockham's algorithm.
type fftPass struct {
	radix, n, stride int
	roots            []float32 // of each of n groups: radix-1 complex numbers
}

type fftScratch struct{ x, y []float32 }

// NewComplexFFT plans transforms of n complex numbers. It returns nil for lengths that
// it does not do: those with factors beyond 5, short and very long ones.
func NewComplexFFT(n int) *FFT {
	radices := fftRadices(n)
	if radices == nil || n < leastFFT || n > mostFFT {
		return nil
	}
	f := &FFT{n: n, passes: fftPasses(n, radices), scratch: sync.Pool{New: func() any { return &fftScratch{make([]float32, (n+1)*fftBlock), make([]float32, (n+1)*fftBlock)} }}}
	return f
}

// fftPasses returns the passes of a transform of n numbers by these factors of n.
func fftPasses(n int, radices []int) (passes []fftPass) {
	left, stride := n, 1
	for _, r := range radices {
		left /= r
		p := fftPass{radix: r, n: left, stride: stride}
		for k := range left {
			for u := 1; u < r; u++ {
				p.roots = appendRoot(p.roots, k*u*stride, n)
			}
		}
		passes = append(passes, p)
		stride *= r
	}
	return passes
}

// NewRealFFT plans transforms of n real numbers, n even: as complex numbers they are
// half as many. It returns nil for lengths that it does not do.
func NewRealFFT(n int) *FFT {
	if n%2 != 0 {
		return nil
	}
	f := NewComplexFFT(n / 2)
	if f == nil {
		return nil
	}
	for k := range n/4 + 1 {
		f.split = appendRoot(f.split, k, n)
	}
	return f
}

// appendRoot appends e^(-2πi·k/n). The angle stays within an eighth of a turn, where
// sine and cosine are most exact.
func appendRoot(w []float32, k, n int) []float32 {
	turn, rest := 8*k/n, 8*k%n
	if turn%2 == 1 {
		rest -= n
		turn++
	}
	s, c := math.Sincos(2 * math.Pi * float64(rest) / float64(8*n))
	switch turn / 2 % 4 {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return append(w, float32(c), float32(-s))
}

// fftRadices returns factors whose product is n, nil if there are none.
func fftRadices(n int) (out []int) {
	for _, r := range []int{4, 2, 3, 5} {
		for n > 1 && n%r == 0 {
			out, n = append(out, r), n/r
		}
	}
	if n != 1 {
		return nil
	}
	return out
}

// Complex transforms lines of x, each of which is width elements of which the first n
// count, to lines of n elements of y. The inverse is scaled by 1/n.
func (f *FFT) Complex(par kernel.Par, y, x []complex64, width int, inverse bool) {
	to, from := floatsOf(y), floatsOf(x)
	f.each(par, len(y)/f.n, func(s *fftScratch, first, lines int) {
		readLanes(s.x, from[first*2*width:], lines, 2*width, 2*f.n)
		if inverse {
			swapParts(s.x, f.n, 1)
		}
		z := f.transform(s)
		if inverse {
			swapParts(z, f.n, 1/float32(f.n))
		}
		writeLanes(to[first*2*f.n:], z, lines, 2*f.n)
	})
}

// Columns transforms columns of x, matrices of n rows of inner elements, to those of
// y, which may be x. The inverse is scaled by 1/n.
func (f *FFT) Columns(par kernel.Par, y, x []complex64, inner int, inverse bool) {
	groups, matrix := (inner+fftLanes-1)/fftLanes, f.n*inner
	par(len(x)/matrix*groups, max(1, kernel.ElementGrain/(f.n*fftLanes)), func(lo, hi int) {
		s := f.scratch.Get().(*fftScratch)
		defer f.scratch.Put(s)
		for g := lo; g < hi; g++ {
			first := g % groups * fftLanes
			at, columns := g/groups*matrix+first, min(fftLanes, inner-first)
			readColumns(s.x, x[at:], inner, columns, f.n)
			if inverse {
				swapParts(s.x, f.n, 1)
			}
			z := f.transform(s)
			if inverse {
				swapParts(z, f.n, 1/float32(f.n))
			}
			writeColumns(y[at:], z, inner, columns, f.n)
		}
	})
}

// Real transforms lines of x, each of which is width numbers of which the first 2n
// count, to the first n+1 elements of their spectra.
func (f *FFT) Real(par kernel.Par, y []complex64, x []float32, width int) {
	to := floatsOf(y)
	f.each(par, len(y)/(f.n+1), func(s *fftScratch, first, lines int) {
		readLanes(s.x, x[first*width:], lines, width, 2*f.n)
		z := f.transform(s)
		f.splitReal(z)
		writeLanes(to[first*2*(f.n+1):], z, lines, 2*(f.n+1))
	})
}

// InverseReal is the inverse of Real, for lines of x of width elements, of which the
// first n+1 count.
func (f *FFT) InverseReal(par kernel.Par, y []float32, x []complex64, width int) {
	from := floatsOf(x)
	f.each(par, len(y)/(2*f.n), func(s *fftScratch, first, lines int) {
		readLanes(s.x, from[first*2*width:], lines, 2*width, 2*(f.n+1))
		f.joinReal(s.x)
		writeLanes(y[first*2*f.n:], f.transform(s), lines, 2*f.n)
	})
}

// each calls do for groups of at most fftLanes lines.
func (f *FFT) each(par kernel.Par, lines int, do func(s *fftScratch, first, lines int)) {
	groups := (lines + fftLanes - 1) / fftLanes
	par(groups, max(1, kernel.ElementGrain/(f.n*fftLanes)), func(lo, hi int) {
		s := f.scratch.Get().(*fftScratch)
		defer f.scratch.Put(s)
		for g := lo; g < hi; g++ {
			do(s, g*fftLanes, min(fftLanes, lines-g*fftLanes))
		}
	})
}

// transform transforms s.x and returns where the result is.
func (f *FFT) transform(s *fftScratch) []float32 {
	from, to := s.x, s.y
	for i := range f.passes {
		f.passes[i].run(to, from)
		from, to = to, from
	}
	return from
}

func (p *fftPass) run(y, x []float32) {
	vector, plain := p.loops()
	if vector != nil {
		vector(&y[0], &x[0], p.n, p.stride, &p.roots[0])
		return
	}
	plain(y, x)
}

// loops returns what does the pass with vector instructions, nil if nothing does, and the
// loop that defines it.
func (p *fftPass) loops() (vector func(y, x *float32, n, stride int, w *float32), plain func(y, x []float32)) {
	switch p.radix {
	case 2:
		return nil, p.two
	case 3:
		return simd.fft3, p.odd
	case 4:
		return simd.fft4, p.four
	}
	return simd.fft5, p.odd
}

// floatsOf returns the parts of complex numbers.
func floatsOf(x []complex64) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
