package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Add sets z = x + y.
func Add[T numeric.Number](z, x, y []T) {
	if !zip32(simd.add, z, x, y) && !zipComplex(simd.add, z, x, y) {
		kernel.Zip(z, x, y, func(a, b T) T { return a + b })
	}
}

// Sub sets z = x - y.
func Sub[T numeric.Number](z, x, y []T) {
	if !zip32(simd.sub, z, x, y) && !zipComplex(simd.sub, z, x, y) {
		kernel.Zip(z, x, y, func(a, b T) T { return a - b })
	}
}

// Mul sets z = x * y.
func Mul[T numeric.Number](z, x, y []T) {
	if !zip32(simd.mul, z, x, y) && !mulComplex(z, x, y) {
		kernel.Zip(z, x, y, func(a, b T) T { return a * b })
	}
}

// Div sets z = x / y. Integers have DivInt.
func Div[T numeric.Inexact](z, x, y []T) {
	if !zip32(simd.div, z, x, y) && !divComplex(z, x, y) {
		kernel.Zip(z, x, y, func(a, b T) T { return a / b })
	}
}

// Max sets z to the greater of x and y, NaN if either is, y if they are equal.
func Max[T numeric.Real](z, x, y []T) {
	if !zip32(simd.max, z, x, y) {
		kernel.Zip(z, x, y, GreaterOf[T])
	}
}

// Min sets z to the lesser of x and y, NaN if either is, y if they are equal.
func Min[T numeric.Real](z, x, y []T) {
	if !zip32(simd.min, z, x, y) {
		kernel.Zip(z, x, y, LesserOf[T])
	}
}

// GreaterOf differs from Go's max for zeros of different sign, where it returns
// b as the vector instruction does.
func GreaterOf[T numeric.Real](a, b T) T {
	if a > b || a != a {
		return a
	}
	return b
}

func LesserOf[T numeric.Real](a, b T) T {
	if a < b || a != a {
		return a
	}
	return b
}

// AddScalar sets z = x + s.
func AddScalar[T numeric.Number](z, x []T, s T) {
	if !scalar32(simd.addS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return a + s })
	}
}

// SubScalar sets z = x - s.
func SubScalar[T numeric.Number](z, x []T, s T) {
	if !scalar32(simd.subS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return a - s })
	}
}

// ScalarSub sets z = s - x.
func ScalarSub[T numeric.Number](z []T, s T, x []T) {
	if !scalar32(simd.rsubS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return s - a })
	}
}

// MulScalar sets z = x * s.
func MulScalar[T numeric.Number](z, x []T, s T) {
	if !scalar32(simd.mulS, z, x, s) && !scalarMulComplex(z, x, s) {
		kernel.Map(z, x, func(a T) T { return a * s })
	}
}

// DivScalar sets z = x / s.
func DivScalar[T numeric.Inexact](z, x []T, s T) {
	if !scalar32(simd.divS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return a / s })
	}
}

// ScalarDiv sets z = s / x.
func ScalarDiv[T numeric.Inexact](z []T, s T, x []T) {
	if !scalar32(simd.rdivS, z, x, s) && !scalarDivComplex(z, s, x) {
		kernel.Map(z, x, func(a T) T { return s / a })
	}
}

// MaxScalar sets z to the greater of x and s; NaN if either is.
func MaxScalar[T numeric.Real](z, x []T, s T) {
	if !scalar32(simd.maxS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return GreaterOf(a, s) })
	}
}

// MinScalar sets z to the lesser of x and s; NaN if either is.
func MinScalar[T numeric.Real](z, x []T, s T) {
	if !scalar32(simd.minS, z, x, s) {
		kernel.Map(z, x, func(a T) T { return LesserOf(a, s) })
	}
}

// squareBlock elements are squared while they are in the first-level cache.
const squareBlock = 1024

// SquaredDifference sets z = (x-y)².
func SquaredDifference[T numeric.Number](z, x, y []T) {
	if _, ok := kernel.AsFloat32(z); !ok || simd.sub == nil || simd.square == nil {
		kernel.Zip(z, x, y, func(a, b T) T { return (a - b) * (a - b) })
		return
	}
	for lo := 0; lo < len(z); lo += squareBlock {
		hi := min(lo+squareBlock, len(z))
		Sub(z[lo:hi], x[lo:hi], y[lo:hi])
		Square(z[lo:hi], z[lo:hi])
	}
}

// SquaredDifferenceScalar sets z = (x-s)².
func SquaredDifferenceScalar[T numeric.Number](z, x []T, s T) {
	if _, ok := kernel.AsFloat32(z); !ok || simd.subS == nil || simd.square == nil {
		kernel.Map(z, x, func(a T) T { return (a - s) * (a - s) })
		return
	}
	for lo := 0; lo < len(z); lo += squareBlock {
		hi := min(lo+squareBlock, len(z))
		SubScalar(z[lo:hi], x[lo:hi], s)
		Square(z[lo:hi], z[lo:hi])
	}
}

// SquaredDifferenceLoops returns the forms of SquaredDifference.
func SquaredDifferenceLoops[T numeric.Number]() Loops[T, T] {
	return commutative(SquaredDifference[T], SquaredDifferenceScalar[T], squaredDifferenceLanes, nil)
}

// DivNoNan sets z = x / y, and 0 where y is 0.
func DivNoNan[T numeric.Inexact](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a / b
	})
}

// MulNoNan sets z = x * y, and 0 where y is 0 even if x is not finite.
func MulNoNan[T numeric.Inexact](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a * b
	})
}
