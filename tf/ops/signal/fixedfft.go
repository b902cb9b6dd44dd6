package signal

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/tf/core"
)

// A fixedComplex is a complex number in 16-bit fixed point: 1<<15 is 1.
type fixedComplex struct{ re, im int16 }

// rounded returns a product of two fixed-point numbers as one.
func rounded(v int32) int16 { return int16((v + 1<<14) >> 15) }

func (a fixedComplex) times(b fixedComplex) fixedComplex {
	return fixedComplex{
		rounded(int32(a.re)*int32(b.re) - int32(a.im)*int32(b.im)),
		rounded(int32(a.re)*int32(b.im) + int32(a.im)*int32(b.re)),
	}
}

func (a fixedComplex) plus(b fixedComplex) fixedComplex {
	return fixedComplex{a.re + b.re, a.im + b.im}
}

func (a fixedComplex) minus(b fixedComplex) fixedComplex {
	return fixedComplex{a.re - b.re, a.im - b.im}
}

// over divides by a small number: without that sums would overflow.
func (a fixedComplex) over(n int32) fixedComplex {
	return fixedComplex{rounded(int32(a.re) * (math.MaxInt16 / n)), rounded(int32(a.im) * (math.MaxInt16 / n))}
}

// unit returns the number of length 1 and the given angle.
func unit(angle float64) fixedComplex {
	return fixedComplex{int16(math.Floor(0.5 + math.MaxInt16*math.Cos(angle))), int16(math.Floor(0.5 + math.MaxInt16*math.Sin(angle)))}
}

// A fixedFFT transforms size real numbers, a power of 2 from 4 on, in 16-bit
// fixed point, rounded as in TensorFlow at every step.
type fixedFFT struct {
	half   int
	turns  []fixedComplex // of the complex transform of half the size
	splits []fixedComplex // which makes two transforms of it
}

func newFixedFFT(size int) *fixedFFT {
	f := &fixedFFT{half: size / 2}
	for i := range f.half {
		f.turns = append(f.turns, unit(-2*math.Pi*float64(i)/float64(f.half)))
	}
	for i := range f.half / 2 {
		f.splits = append(f.splits, unit(-math.Pi*(float64(i+1)/float64(f.half)+0.5)))
	}
	return f
}

// transform returns the first half+1 coefficients for x.
func (f *fixedFFT) transform(x []int16) []fixedComplex {
	in, mid, out := core.Make[fixedComplex](f.half), core.Make[fixedComplex](f.half), core.Make[fixedComplex](f.half+1)
	for i := range in {
		in[i] = fixedComplex{x[2*i], x[2*i+1]}
	}
	f.step(mid, in, 1)
	dc := mid[0].over(2)
	out[0].re, out[f.half].re = dc.re+dc.im, dc.re-dc.im
	for k := 1; k <= f.half/2; k++ {
		a, b := mid[k].over(2), fixedComplex{mid[f.half-k].re, -mid[f.half-k].im}.over(2)
		sum, turned := a.plus(b), a.minus(b).times(f.splits[k-1])
		out[k] = fixedComplex{int16((int32(sum.re) + int32(turned.re)) >> 1), int16((int32(sum.im) + int32(turned.im)) >> 1)}
		out[f.half-k] = fixedComplex{int16((int32(sum.re) - int32(turned.re)) >> 1), int16((int32(turned.im) - int32(sum.im)) >> 1)}
	}
	return out
}

// step transforms every stride-th number of in, in fours while that goes.
func (f *fixedFFT) step(out, in []fixedComplex, stride int) {
	n := len(out)
	if n == 1 {
		out[0] = in[0]
		return
	}
	parts := 4
	if bits.Len(uint(n)) == 2 {
		parts = 2
	}
	m := n / parts
	for p := range parts {
		f.step(out[p*m:(p+1)*m], in[p*stride:], stride*parts)
	}
	for k := range m {
		if parts == 2 {
			f.two(out, k, m, stride)
		} else {
			f.four(out, k, m, stride)
		}
	}
}

func (f *fixedFFT) two(x []fixedComplex, k, m, stride int) {
	a, b := x[k].over(2), x[k+m].over(2).times(f.turns[k*stride])
	x[k], x[k+m] = a.plus(b), a.minus(b)
}

func (f *fixedFFT) four(x []fixedComplex, k, m, stride int) {
	a := x[k].over(4)
	b := x[k+m].over(4).times(f.turns[k*stride])
	c := x[k+2*m].over(4).times(f.turns[2*k*stride])
	d := x[k+3*m].over(4).times(f.turns[3*k*stride])
	even, odd := a.plus(c), b.plus(d)
	rest, turned := a.minus(c), b.minus(d)
	x[k], x[k+2*m] = even.plus(odd), even.minus(odd)
	x[k+m] = fixedComplex{rest.re + turned.im, rest.im - turned.re}
	x[k+3*m] = fixedComplex{rest.re - turned.im, rest.im + turned.re}
}
