package kernel

// Add sets z = x + y.
func Add[T Number](z, x, y []T) {
	if !zip32(simd.add, z, x, y) {
		Zip(z, x, y, func(a, b T) T { return a + b })
	}
}

// Sub sets z = x - y.
func Sub[T Number](z, x, y []T) {
	if !zip32(simd.sub, z, x, y) {
		Zip(z, x, y, func(a, b T) T { return a - b })
	}
}

// Mul sets z = x * y.
func Mul[T Number](z, x, y []T) {
	if !zip32(simd.mul, z, x, y) {
		Zip(z, x, y, func(a, b T) T { return a * b })
	}
}

// Div sets z = x / y. Integers have DivInt.
func Div[T Inexact](z, x, y []T) {
	if !zip32(simd.div, z, x, y) {
		Zip(z, x, y, func(a, b T) T { return a / b })
	}
}

// Max sets z to the greater of x and y, NaN if either is, y if they are equal.
func Max[T Real](z, x, y []T) {
	if !zip32(simd.max, z, x, y) {
		Zip(z, x, y, greater[T])
	}
}

// Min sets z to the lesser of x and y, NaN if either is, y if they are equal.
func Min[T Real](z, x, y []T) {
	if !zip32(simd.min, z, x, y) {
		Zip(z, x, y, lesser[T])
	}
}

// greater differs from Go's max for zeros of different sign, where it returns
// b as the vector instruction does.
func greater[T Real](a, b T) T {
	if a > b || a != a {
		return a
	}
	return b
}

func lesser[T Real](a, b T) T {
	if a < b || a != a {
		return a
	}
	return b
}

// AddScalar sets z = x + s.
func AddScalar[T Number](z, x []T, s T) {
	if !scalar32(simd.addS, z, x, s) {
		Map(z, x, func(a T) T { return a + s })
	}
}

// SubScalar sets z = x - s.
func SubScalar[T Number](z, x []T, s T) {
	if !scalar32(simd.subS, z, x, s) {
		Map(z, x, func(a T) T { return a - s })
	}
}

// ScalarSub sets z = s - x.
func ScalarSub[T Number](z []T, s T, x []T) {
	if !scalar32(simd.rsubS, z, x, s) {
		Map(z, x, func(a T) T { return s - a })
	}
}

// MulScalar sets z = x * s.
func MulScalar[T Number](z, x []T, s T) {
	if !scalar32(simd.mulS, z, x, s) {
		Map(z, x, func(a T) T { return a * s })
	}
}

// DivScalar sets z = x / s.
func DivScalar[T Inexact](z, x []T, s T) {
	if !scalar32(simd.divS, z, x, s) {
		Map(z, x, func(a T) T { return a / s })
	}
}

// ScalarDiv sets z = s / x.
func ScalarDiv[T Inexact](z []T, s T, x []T) {
	if !scalar32(simd.rdivS, z, x, s) {
		Map(z, x, func(a T) T { return s / a })
	}
}

// MaxScalar sets z to the greater of x and s; NaN if either is.
func MaxScalar[T Real](z, x []T, s T) {
	if !scalar32(simd.maxS, z, x, s) {
		Map(z, x, func(a T) T { return greater(a, s) })
	}
}

// MinScalar sets z to the lesser of x and s; NaN if either is.
func MinScalar[T Real](z, x []T, s T) {
	if !scalar32(simd.minS, z, x, s) {
		Map(z, x, func(a T) T { return lesser(a, s) })
	}
}

// squareBlock elements are squared while they are in the first-level cache.
const squareBlock = 1024

// SquaredDifference sets z = (x-y)².
func SquaredDifference[T Number](z, x, y []T) {
	if _, ok := asF32(z); !ok || simd.sub == nil || simd.square == nil {
		Zip(z, x, y, func(a, b T) T { return (a - b) * (a - b) })
		return
	}
	for lo := 0; lo < len(z); lo += squareBlock {
		hi := min(lo+squareBlock, len(z))
		Sub(z[lo:hi], x[lo:hi], y[lo:hi])
		Square(z[lo:hi], z[lo:hi])
	}
}

// SquaredDifferenceScalar sets z = (x-s)².
func SquaredDifferenceScalar[T Number](z, x []T, s T) {
	if _, ok := asF32(z); !ok || simd.subS == nil || simd.square == nil {
		Map(z, x, func(a T) T { return (a - s) * (a - s) })
		return
	}
	for lo := 0; lo < len(z); lo += squareBlock {
		hi := min(lo+squareBlock, len(z))
		SubScalar(z[lo:hi], x[lo:hi], s)
		Square(z[lo:hi], z[lo:hi])
	}
}

// SquaredDifferenceLoops returns the forms of SquaredDifference.
func SquaredDifferenceLoops[T Number]() Loops[T, T] {
	return commutative(SquaredDifference[T], SquaredDifferenceScalar[T])
}

// DivNoNan sets z = x / y, and 0 where y is 0.
func DivNoNan[T Inexact](z, x, y []T) {
	Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a / b
	})
}

// MulNoNan sets z = x * y, and 0 where y is 0 even if x is not finite.
func MulNoNan[T Inexact](z, x, y []T) {
	Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a * b
	})
}
