package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// HasZero reports whether an element is zero: the integer divisions answer 0
// for such a divisor and leave the error to the caller.
func HasZero[T numeric.Number](x []T) bool {
	for len(x) >= 8 { // the processor looks at two in a cycle
		if x[0] == 0 || x[1] == 0 || x[2] == 0 || x[3] == 0 || x[4] == 0 || x[5] == 0 || x[6] == 0 || x[7] == 0 {
			return true
		}
		x = x[8:]
	}
	for _, v := range x {
		if v == 0 {
			return true
		}
	}
	return false
}

// HasNegative reports whether an element is below zero.
func HasNegative[T numeric.Real](x []T) bool {
	for _, v := range x {
		if v < 0 {
			return true
		}
	}
	return false
}

// FloorDiv sets z = ⌊x/y⌋.
func FloorDiv[T numeric.Float](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T { return T(math.Floor(float64(a / b))) })
}

// Mod sets z to the remainder of the truncated division, as C's fmod.
func Mod[T numeric.Float](z, x, y []T) { ZipFloat64(z, x, y, math.Mod) }

// FloorMod sets z to the remainder of the floored division.
func FloorMod[T numeric.Float](z, x, y []T) {
	ZipFloat64(z, x, y, func(a, b float64) float64 {
		r := math.Mod(a, b)
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	})
}

// PowInt sets z = x to the power of y, wrapping around on overflow. Negative
// powers are the caller's error; see HasNegative.
func PowInt[T numeric.Integer](z, x, y []T) { kernel.Zip(z, x, y, powInt[T]) }

func powInt[T numeric.Integer](x, y T) T {
	r := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			r *= x
		}
		x *= x
	}
	return r
}
