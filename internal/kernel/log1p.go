package kernel

import "math"

// Log1p sets y = log(1+x), exact near 0.
func Log1p[T Float](y, x []T) {
	if simd.log == nil || !map32(log1p32, y, x) {
		MapFloat64(y, x, math.Log1p)
	}
}

// log1p32 goes by the logarithm of the rounded u = 1+x: what rounding has cost
// is made good by x/(u-1), as in the HP-15C's Advanced Functions Handbook.
func log1p32(y, x []float32) {
	var u, l [256]float32
	for len(x) > 0 {
		n := min(len(x), len(u))
		for i, v := range x[:n] {
			u[i] = 1 + v
		}
		simd.log(l[:n], u[:n])
		for i, v := range x[:n] {
			if d := u[i] - 1; d != 0 && !math.IsInf(float64(u[i]), 1) {
				v *= l[i] / d
			}
			y[i] = v
		}
		x, y = x[n:], y[n:]
	}
}

// Softplus sets y = log(1+e^x).
func Softplus[T Float](y, x []T) {
	if simd.log == nil || simd.exp == nil || !map32(softplus32, y, x) {
		MapFloat64(y, x, softplus)
	}
}

func softplus(v float64) float64 { return math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }

func softplus32(y, x []float32) {
	var e [256]float32
	for len(x) > 0 {
		n := min(len(x), len(e))
		for i, v := range x[:n] {
			e[i] = -float32(math.Abs(float64(v)))
		}
		simd.exp(e[:n], e[:n])
		log1p32(e[:n], e[:n])
		for i, v := range x[:n] {
			y[i] = max(v, 0) + e[i]
		}
		x, y = x[n:], y[n:]
	}
}
