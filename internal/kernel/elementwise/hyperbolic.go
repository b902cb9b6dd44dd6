package elementwise

import "math"

// Hyperbolic functions for results in single precision, by the loops of double precision: what
// cancels there is less than what rounding takes.

// Cosh32 sets y to the hyperbolic cosine of x.
var Cosh32 = inGammaBlocks(func(b *gammaBlock, y, x []float32) {
	e := b.of[:len(x)]
	for i, v := range x {
		e[i] = float64(abs32(v))
	}
	Exp(e, e)
	for i, v := range e {
		y[i] = float32(0.5*v + 0.5/v)
	}
})

// Asinh32 sets y to the inverse hyperbolic sine of x.
var Asinh32 = inGammaBlocks(func(b *gammaBlock, y, x []float32) {
	sum := b.of[:len(x)]
	for i, v := range x {
		a := float64(abs32(v))
		sum[i] = a + math.Sqrt(float64(a*a)+1)
	}
	Log(sum, sum)
	for i, log := range sum {
		const small = 0x1p-9
		v := float64(x[i])
		if v > -small && v < small { // of which the sum has lost bits
			y[i] = float32(v - v*v*v/6)
		} else {
			y[i] = float32(math.Copysign(log, v))
		}
	}
})

// Acosh32 sets y to the inverse hyperbolic cosine of x, NaN below 1.
var Acosh32 = inGammaBlocks(func(b *gammaBlock, y, x []float32) {
	sum := b.of[:len(x)]
	for i, v := range x {
		a := float64(v)
		if sum[i] = a + math.Sqrt(float64(a*a)-1); a < 1 {
			sum[i] = math.NaN()
		}
	}
	Log(sum, sum)
	for i, log := range sum {
		y[i] = float32(log)
	}
})
