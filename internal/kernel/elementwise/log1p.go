package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// Log1p sets y = log(1+x), exact near 0.
func Log1p[T numeric.Float](y, x []T) {
	if !map32(simd.log1p, y, x) {
		MapFloat64(y, x, math.Log1p)
	}
}

// Softplus sets y = log(1+e^x).
func Softplus[T numeric.Float](y, x []T) {
	if simd.log1p == nil || simd.exp == nil || !map32(softplus32, y, x) {
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
		simd.log1p(e[:n], e[:n])
		for i, v := range x[:n] {
			y[i] = max(v, 0) + e[i]
		}
		x, y = x[n:], y[n:]
	}
}
