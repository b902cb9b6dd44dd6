package elementwise

import "sync"

// complexBlock complex numbers have parts and results that stay in the first-level cache.
const complexBlock = 512

// complexParts are parts of the numbers of a block, and room for what is computed of them.
type complexParts struct {
	a, b, c, d [complexBlock]float32
	wide       [complexBlock]float64
}

var complexBlocks = sync.Pool{New: func() any { return new(complexParts) }}

// inComplexBlocks calls f for blocks of y and x.
func inComplexBlocks(y, x []complex64, f func(p *complexParts, y, x []complex64)) {
	p := complexBlocks.Get().(*complexParts)
	defer complexBlocks.Put(p)
	for len(y) > 0 {
		n := min(len(y), complexBlock)
		f(p, y[:n], x[:n])
		y, x = y[n:], x[n:]
	}
}

// ExpComplex sets y = e to the x, by loops over the parts.
func ExpComplex(y, x []complex64) {
	if simd.exp == nil {
		MapComplex128(y, x, ExpOfComplex)
		return
	}
	inComplexBlocks(y, x, expBlock)
}

// expLeast and expMost are between where e^x is subnormal or infinite in float32.
const expLeast, expMost = -87, 88

func expBlock(p *complexParts, y, x []complex64) {
	size, angle, sin, cos := p.a[:len(y)], p.b[:len(y)], p.c[:len(y)], p.d[:len(y)]
	for i, v := range x {
		size[i], angle[i] = real(v), imag(v)
	}
	simd.exp(size, size)
	simd.sin(sin, angle)
	simd.cos(cos, angle)
	for i, v := range x {
		a := real(v)
		if a > expLeast && a < expMost && imag(v)-imag(v) == 0 {
			y[i] = complex(size[i]*cos[i], size[i]*sin[i])
		} else {
			y[i] = complex64(ExpOfComplex(complex128(v)))
		}
	}
}

// LogComplex sets y to the logarithms of x, by loops over the parts.
func LogComplex(y, x []complex64) {
	if simd.log64 == nil {
		MapComplex128(y, x, LogOfComplex)
		return
	}
	inComplexBlocks(y, x, logBlock)
}

// logBlock halves the logarithms of squares in double precision, in which these neither overflow nor
// vanish, and sizes near 1 are not rounded to it.
func logBlock(p *complexParts, y, x []complex64) {
	square, re, im := p.wide[:len(y)], p.b[:len(y)], p.c[:len(y)]
	for i, v := range x {
		a, b := float64(real(v)), float64(imag(v))
		square[i] = float64(a*a) + float64(b*b)
		re[i], im[i] = real(v), imag(v)
	}
	Log(square, square)
	simd.atan2(im, im, re)
	for i, log := range square {
		if log-log == 0 {
			y[i] = complex(float32(log/2), im[i])
		} else { // of 0, or a part that is not finite
			y[i] = complex64(LogOfComplex(complex128(x[i])))
		}
	}
}
