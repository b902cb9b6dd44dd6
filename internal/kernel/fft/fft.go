package fft

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// Real are the numbers that lines are of.
type Real interface{ float32 | float64 }

// partBytes are the bytes of a part of an element. As many lines as there are numbers in
// them are transformed together: element j of all of them is a block of their real parts,
// then of their imaginary parts. A loop over lanes needs no shuffles and has one root
// for all of them.
const partBytes = 64

// mostLanes is the number of lanes in single precision.
const mostLanes = partBytes / 4

// lanes returns how many lines are transformed together.
func lanes[T Real]() int { return partBytes / int(unsafe.Sizeof(T(0))) }

// mostFFT is the longest complex transform: one pass goes on without a pause for the
// scheduler.
const mostFFT = 1 << 15

// leastFFT is the shortest complex transform that is worth the way into lanes.
const leastFFT = 4

// An FFT transforms lines of one length; its roots are computed in double precision. It
// may be shared.
type FFT[T Real] struct {
	n       int // of the complex transform
	passes  []fftPass[T]
	split   []T       // e^(-2πi·k/2n) for k ≤ n/2, for lines of 2n real numbers
	scratch sync.Pool // of *fftScratch
	loops   *vectorLoops[T]
	chirp   *chirp[T] // if n has large factors
}

// fftPass is a step of Stockham's algorithm.
type fftPass[T Real] struct {
	radix, n, stride int
	roots            []T // of each of n groups: radix-1 complex numbers
}

type fftScratch[T Real] struct{ x, y []T }

// room returns memory for n elements and for what a block in single precision has more.
func room[T Real](n int) []T { return make([]T, 2*n*lanes[T]()+mostLanes) }

// NewComplexFFT plans transforms of n complex numbers. It returns nil for lengths that
// it does not do: short and very long ones and those with factors from 7 to 63; without
// vector loops also those with greater ones.
func NewComplexFFT[T Real](n int) *FFT[T] {
	f := planFFT[T](n)
	if f != nil && f.chirp != nil && f.loops.times == nil {
		return nil
	}
	return f
}

func planFFT[T Real](n int) *FFT[T] {
	if n < leastFFT || n > mostFFT {
		return nil
	}
	f, m := &FFT[T]{n: n, loops: loopsOf[T]()}, n
	if radices := fftRadices(n); radices != nil {
		f.passes = fftPasses[T](n, radices)
	} else if f.chirp = newChirp[T](n); f.chirp == nil {
		return nil
	} else {
		m = f.chirp.long.n
	}
	f.scratch.New = func() any { return &fftScratch[T]{room[T](m + 1), room[T](m + 1)} }
	return f
}

// fftPasses returns the passes of a transform of n numbers by these factors of n.
func fftPasses[T Real](n int, radices []int) (passes []fftPass[T]) {
	left, stride := n, 1
	for _, r := range radices {
		left /= r
		p := fftPass[T]{radix: r, n: left, stride: stride}
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
func NewRealFFT[T Real](n int) *FFT[T] {
	if n%2 != 0 {
		return nil
	}
	f := NewComplexFFT[T](n / 2)
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
func appendRoot[T Real](w []T, k, n int) []T {
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
	return append(w, T(c), T(-s))
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
func (f *FFT[T]) Complex(par kernel.Par, y, x []T, width int, inverse bool) {
	f.each(par, len(y)/(2*f.n), func(s *fftScratch[T], first, lines int) {
		f.readLanes(s.x, x[first*2*width:], lines, 2*width, 2*f.n, inverse != f.exchanged())
		f.writeLanes(y[first*2*f.n:], f.transform(s), lines, 2*f.n, inverse)
	})
}

// Real transforms lines of x, each of which is width numbers of which the first 2n
// count, to the first n+1 elements of their spectra.
func (f *FFT[T]) Real(par kernel.Par, y, x []T, width int) {
	f.each(par, len(y)/(2*(f.n+1)), func(s *fftScratch[T], first, lines int) {
		f.readLanes(s.x, x[first*width:], lines, width, 2*f.n, f.exchanged())
		z := f.transform(s)
		f.splitReal(z)
		f.writeLanes(y[first*2*(f.n+1):], z, lines, 2*(f.n+1), false)
	})
}

// InverseReal is the inverse of Real, for lines of x of width elements, of which the
// first n+1 count.
func (f *FFT[T]) InverseReal(par kernel.Par, y, x []T, width int) {
	f.each(par, len(y)/(2*f.n), func(s *fftScratch[T], first, lines int) {
		f.readLanes(s.x, x[first*2*width:], lines, 2*width, 2*(f.n+1), false)
		f.joinReal(s.x)
		if f.exchanged() {
			f.swapParts(s.x, f.n, 1)
		}
		f.writeLanes(y[first*2*f.n:], f.transform(s), lines, 2*f.n, false)
	})
}

// each calls do for groups of lines that are transformed together.
func (f *FFT[T]) each(par kernel.Par, lines int, do func(s *fftScratch[T], first, lines int)) {
	w := lanes[T]()
	groups := (lines + w - 1) / w
	par(groups, max(1, kernel.ElementGrain/(f.n*w)), func(lo, hi int) {
		s := f.scratch.Get().(*fftScratch[T])
		defer f.scratch.Put(s)
		for g := lo; g < hi; g++ {
			do(s, g*w, min(w, lines-g*w))
		}
	})
}

// exchanged reports whether transform takes elements with their parts exchanged.
func (f *FFT[T]) exchanged() bool { return f.chirp != nil }

// transform transforms s.x and returns where the result is.
func (f *FFT[T]) transform(s *fftScratch[T]) []T {
	if f.chirp != nil {
		return f.chirp.transform(f.n, s)
	}
	z, _ := f.run(s.x, s.y)
	return z
}

// run does all passes over x; it returns where the result is, and the other memory.
func (f *FFT[T]) run(x, y []T) (z, rest []T) {
	for i := range f.passes {
		f.passes[i].run(f.loops, y, x)
		x, y = y, x
	}
	return x, y
}

func (p *fftPass[T]) run(l *vectorLoops[T], y, x []T) {
	if vector := l.passes[p.radix]; vector != nil {
		vector(&y[0], &x[0], p.n, p.stride, &p.roots[0])
		return
	}
	p.plain(y, x)
}

// plain defines what the vector loops do.
func (p *fftPass[T]) plain(y, x []T) {
	switch p.radix {
	case 2:
		p.two(y, x)
	case 4:
		p.four(y, x)
	default:
		p.odd(y, x)
	}
}

// Complex64 and Complex128 return the parts of complex numbers.
func Complex64(x []complex64) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

func Complex128(x []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
