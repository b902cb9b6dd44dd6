package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// Elu sets y to x where x is not negative and to e^x - 1 elsewhere.
func Elu[T numeric.Float](y, x []T) {
	if x32, ok := any(x).([]float32); ok && simd.exp != nil {
		elu32(any(y).([]float32), x32)
		return
	}
	MapFloat64(y, x, elu)
}

func elu(v float64) float64 {
	if v < 0 {
		return math.Expm1(v)
	}
	return v
}

// nearZero is the negative number above which e^x - 1 would lose too many digits.
const nearZero = -0.5

// elu32 is Elu by exponentials of a block at a time. y may be x.
func elu32(y, x []float32) {
	var e [256]float32
	for len(x) > 0 {
		n := min(len(x), len(e))
		Exp(e[:n], x[:n])
		for i, v := range x[:n] {
			switch {
			case !(v < 0):
				y[i] = v
			case v > nearZero:
				y[i] = expm1Series(v)
			default:
				y[i] = e[i] - 1
			}
		}
		x, y = x[n:], y[n:]
	}
}

// expm1Series is e^x - 1 for x in (nearZero, 0): the first terms of its series. What is
// left out is less than a fifth of a unit in the last place.
func expm1Series(x float32) float32 {
	const c2, c3, c4, c5, c6, c7, c8 = 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320
	p := c2 + x*(c3+x*(c4+x*(c5+x*(c6+x*(c7+x*c8)))))
	return x + x*x*p
}
