package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// vectorLoops holds the loops, of float32 unless they say otherwise, that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	add, sub, mul, div, max, min         kernel.BinaryLoop
	addS, subS, rsubS, mulS, divS, rdivS kernel.ScalarLoop
	maxS, minS                           kernel.ScalarLoop
	addC, subC, mulC, divC               columnLoop
	reluGrad, relu6Grad                  kernel.BinaryLoop
	tanhGrad, sigmoidGrad                kernel.BinaryLoop
	neg, abs, sign                       kernel.UnaryLoop
	square, sqrt, rsqrt, relu            kernel.UnaryLoop
	exp, log, log1p, tanh, sigmoid       kernel.UnaryLoop
	erf, erfc, expm1, elu                kernel.UnaryLoop
	sin, cos, atan                       kernel.UnaryLoop
	floor, ceil, rint                    kernel.UnaryLoop
	atan2                                kernel.BinaryLoop
	blend                                func(z, x, y *float32, n int, v, w float32)
	blendPixels, blendShortPixels        func(z, x, y *float32, places *byte, pixels, channels int, v, w float32)
	// powers computes up to what it cannot; n is a multiple of powLanes.
	powers   func(z, x, y *float32, n int, inverse, log, exp2 *float64) (done int)
	powLanes int

	// Those of complex64 get its parts. quotients and roots compute up to what they cannot.
	mulComplex kernel.BinaryLoop
	conj       kernel.UnaryLoop
	quotients  func(z, x, y *float32, n, step int) (done int)
	roots      func(z, x *float32, n int) (done int)

	truncate, fromInt32 kernel.UnaryLoop // one side is int32
	// selectWords chooses by bytes; n is a multiple of 16.
	selectWords func(z *float32, c *byte, x, y *float32, n int)
	// greater and the others set bytes to 0 or 1; n is a multiple of 32.
	greater, greaterEqual, equal, notEqual func(z *byte, x, y *float32, n int)
	// widen and narrow convert multiples of 16.
	widen  func(y *float64, x *float32, n int)
	narrow func(y *float32, x *float64, n int)

	// truncateDouble, lowWords and truncateLong (AVX-512) convert multiples of 16.
	truncateDouble func(y *int32, x *float64, n int)
	lowWords       func(y *int32, x *int64, n int)
	truncateLong   func(y *int64, x *float32, n int)
	// quotient32 and floorQuotient32 divide multiples of 16, those of 64 bits multiples of
	// 8 up to what has many bits.
	quotient32, floorQuotient32 func(z, x, y *int32, n int)
	quotient64, floorQuotient64 func(z, x, y *int64, n int) (done int)

	// Those of float64 get at most VectorChunk elements.
	sqrt64, rsqrt64, exp64, log64, tanh64, sigmoid64, erf64 func(y, x *float64, n int)

	addScaled64 func(y, x *float64, n int, s float64)
	rotate64    func(x, y *float64, n int, c, s float64)
	dot64       func(x, y *float64, n int) float64
	// These do between float32 and 16 bits.
	widenHalf, widenBFloat   func(y *float32, x *uint16, n int)
	narrowHalf, narrowBFloat func(y *uint16, x *float32, n int)
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

// map32 runs a vector loop if there is one and the data are float32.
func map32[T any](f kernel.UnaryLoop, y, x []T) bool {
	yf, ok := kernel.AsFloat32(y)
	if !ok || f == nil {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	f(yf, xf[:len(yf)])
	return true
}

// zip32 is map32 for two operands.
func zip32[T any](f kernel.BinaryLoop, z, x, y []T) bool {
	zf, ok := kernel.AsFloat32(z)
	if !ok || f == nil {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	yf, _ := kernel.AsFloat32(y)
	f(zf, xf[:len(zf)], yf[:len(zf)])
	return true
}

// scalar32 is map32 with a scalar as second operand.
func scalar32[T any](f kernel.ScalarLoop, z, x []T, s T) bool {
	zf, ok := kernel.AsFloat32(z)
	if !ok || f == nil {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	sf, _ := kernel.ScalarFloat32(s)
	f(zf, xf[:len(zf)], sf)
	return true
}
