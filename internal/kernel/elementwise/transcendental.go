package elementwise

import (
	"math"
	"math/cmplx"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// MapFloat64 sets y = f(x), computed in float64 and rounded once.
func MapFloat64[T numeric.Float](y, x []T, f func(float64) float64) {
	kernel.Map(y, x, func(v T) T { return T(f(float64(v))) })
}

// ZipFloat64 sets z = f(x, y), computed in float64 and rounded once.
func ZipFloat64[T numeric.Float](z, x, y []T, f func(a, b float64) float64) {
	kernel.Zip(z, x, y, func(a, b T) T { return T(f(float64(a), float64(b))) })
}

// MapComplex128 sets y = f(x), computed in complex128 and rounded once.
func MapComplex128[T numeric.Complex](y, x []T, f func(complex128) complex128) {
	kernel.Map(y, x, func(v T) T { return T(f(complex128(v))) })
}

// ZipComplex128 sets z = f(x, y), computed in complex128 and rounded once.
func ZipComplex128[T numeric.Complex](z, x, y []T, f func(a, b complex128) complex128) {
	kernel.Zip(z, x, y, func(a, b T) T { return T(f(complex128(a), complex128(b))) })
}

// mapBy runs a vector loop if there is one and the data are float32, f otherwise.
func mapBy[T numeric.Float](loop kernel.UnaryLoop, y, x []T, f func(float64) float64) {
	if !map32(loop, y, x) {
		MapFloat64(y, x, f)
	}
}

// Exp sets y = e to the x.
func Exp[T numeric.Float](y, x []T) { mapBoth(simd.exp, simd.exp64, y, x, expPlain) }

// expPlain is e to the x. On amd64, math.Exp is infinite for numbers below the last one whose
// exponential is finite.
func expPlain(x float64) float64 {
	if x > 709 && x < 709.7827128933841 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// Expm1 sets y = e to the x, less 1.
func Expm1[T numeric.Float](y, x []T) { mapBy(simd.expm1, y, x, math.Expm1) }

// Sin sets y to the sine of x.
func Sin[T numeric.Float](y, x []T) { mapBy(simd.sin, y, x, math.Sin) }

// Cos sets y to the cosine of x.
func Cos[T numeric.Float](y, x []T) { mapBy(simd.cos, y, x, math.Cos) }

// Atan sets y to the arc tangent of x.
func Atan[T numeric.Float](y, x []T) { mapBy(simd.atan, y, x, math.Atan) }

// Atan2 sets z to the angle of the points (y, x).
func Atan2[T numeric.Float](z, y, x []T) {
	if !zip32(simd.atan2, z, y, x) {
		ZipFloat64(z, y, x, Atan2Of)
	}
}

// Log sets y to the natural logarithm of x.
func Log[T numeric.Float](y, x []T) { mapBoth(simd.log, simd.log64, y, x, LogOf) }

// leastNormal is the least number of float64 that is not subnormal.
const leastNormal = 0x1p-1022

// LogOf is the natural logarithm. On amd64, math.Log takes subnormal numbers for normal
// ones: its result for 5e-324 is 35 too great.
func LogOf(x float64) float64 {
	if x > 0 && x < leastNormal {
		return math.Log(x*(1<<52)) - 52*math.Ln2
	}
	return math.Log(x)
}

// LogOfComplex is cmplx.Log by [LogOf].
func LogOfComplex(x complex128) complex128 {
	return complex(LogOf(cmplx.Abs(x)), cmplx.Phase(x))
}

// Sqrt sets y to the square root of x.
func Sqrt[T numeric.Float](y, x []T) {
	mapBoth(simd.sqrt, simd.sqrt64, y, x, math.Sqrt)
}

// Rsqrt sets y = 1/√x.
func Rsqrt[T numeric.Float](y, x []T) {
	mapBoth(simd.rsqrt, simd.rsqrt64, y, x, rsqrtOf)
}

// Tanh sets y to the hyperbolic tangent of x.
func Tanh[T numeric.Float](y, x []T) { mapBoth(simd.tanh, simd.tanh64, y, x, math.Tanh) }

// Erf sets y to the error function of x.
func Erf[T numeric.Float](y, x []T) { mapBoth(simd.erf, simd.erf64, y, x, math.Erf) }

// Erfc sets y to 1 less the error function of x.
func Erfc[T numeric.Float](y, x []T) { mapBy(simd.erfc, y, x, math.Erfc) }

// Sigmoid sets y = 1/(1+e^-x).
func Sigmoid[T numeric.Float](y, x []T) { mapBoth(simd.sigmoid, simd.sigmoid64, y, x, sigmoid) }

// sigmoid never takes the exponential of a positive number, so that a very
// negative x gives the small result it should and not 1/Inf.
func sigmoid(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// Pow sets z = x to the power of y. Integers have PowInt.
func Pow[T numeric.Inexact](z, x, y []T) {
	switch z := any(z).(type) {
	case []float32:
		powers32(z, any(x).([]float32), any(y).([]float32))
	case []float64:
		ZipFloat64(z, any(x).([]float64), any(y).([]float64), powOf)
	case []complex64:
		ZipComplex128(z, any(x).([]complex64), any(y).([]complex64), PowOfComplex)
	case []complex128:
		ZipComplex128(z, any(x).([]complex128), any(y).([]complex128), PowOfComplex)
	}
}

// Floor rounds towards -Inf.
func Floor[T numeric.Float](y, x []T) { mapBy(simd.floor, y, x, math.Floor) }

// Ceil rounds towards +Inf.
func Ceil[T numeric.Float](y, x []T) { mapBy(simd.ceil, y, x, math.Ceil) }

// Round rounds to the nearest integer, ties to even.
func Round[T numeric.Float](y, x []T) { mapBy(simd.rint, y, x, math.RoundToEven) }
