package elementwise

import (
	"math"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// HasZero reports whether an element is zero: the integer divisions answer 0
// for such a divisor and leave the error to the caller.
func HasZero[T numeric.Number](x []T) bool {
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

// DivInt sets z = x / y, truncated, and 0 where y is 0.
func DivInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a / b
	})
}

// ModInt sets z to the remainder of the truncated division, with the sign of
// x, and to 0 where y is 0.
func ModInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a % b
	})
}

// FloorDivInt sets z = x / y rounded towards minus infinity, and 0 where y
// is 0.
func FloorDivInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	})
}

// FloorModInt sets z to the remainder of the floored division, with the sign
// of y, and to 0 where y is 0.
func FloorModInt[T numeric.Integer](z, x, y []T) {
	switch z := any(z).(type) {
	case []int32:
		floorMods(z, any(x).([]int32), any(y).([]int32))
		return
	case []int64:
		floorMods(z, any(x).([]int64), any(y).([]int64))
		return
	}
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		r := a % b
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	})
}

// floorMods is FloorModInt without branches on the signs, which are as good as random.
func floorMods[T int32 | int64](z, x, y []T) {
	sign := 8*unsafe.Sizeof(T(0)) - 1
	x, y = x[:len(z)], y[:len(z)]
	for i, a := range x {
		b, r := y[i], T(0)
		if b != 0 {
			r = a % b
		}
		other, some := (r^b)>>sign, (r|-r)>>sign // all ones if the signs differ, and if r is not 0
		z[i] = r + b&other&some
	}
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
