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
func Mod[T numeric.Float](z, x, y []T) {
	f, ok := kernel.AsFloat32(z)
	if !ok {
		ZipFloat64(z, x, y, math.Mod)
		return
	}
	a, _ := kernel.AsFloat32(x)
	b, _ := kernel.AsFloat32(y)
	remainders(f, a[:len(f)], b[:len(f)])
}

// remainders is Mod of float32. A quotient of less than 2^28 is exact in float64 up to its point, since
// that of an integer's neighbour is further away than the rounding, and so is what it takes from x.
func remainders(z, x, y []float32) {
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		q := math.Trunc(a / b)
		r := math.Copysign(a-float64(q*b), a)
		if !(q > -1<<28 && q < 1<<28) || b-b != 0 {
			r = math.Mod(a, b)
		}
		z[i] = float32(r)
	}
}

// FloorMod sets z to the remainder of the floored division.
func FloorMod[T numeric.Float](z, x, y []T) {
	if _, ok := kernel.AsFloat32(z); ok && len(z) > 0 && len(y) > 0 && &z[0] != &y[0] {
		Mod(z, x, y)
		kernel.Zip(z, z, y, floored[T])
		return
	}
	ZipFloat64(z, x, y, func(a, b float64) float64 { return floored(math.Mod(a, b), b) })
}

// floored returns a remainder of the division by b with the sign of that.
func floored[T numeric.Float](r, b T) T {
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
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
