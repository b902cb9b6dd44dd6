package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Neg sets y = -x.
func Neg[T numeric.Number](y, x []T) {
	if !map32(simd.neg, y, x) {
		kernel.Map(y, x, func(v T) T { return -v })
	}
}

// Abs sets y = |x|; the least integer of a type stays itself.
func Abs[T numeric.Real](y, x []T) {
	if map32(simd.abs, y, x) {
		return
	}
	kernel.Map(y, x, func(v T) T {
		if v < 0 {
			return -v
		}
		return v + 0 // -0 + 0 is 0
	})
}

// Sign sets y to -1, 0 or 1, and to NaN where x is NaN.
func Sign[T numeric.Real](y, x []T) {
	if map32(simd.sign, y, x) {
		return
	}
	kernel.Map(y, x, func(v T) T {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return minusOne[T]()
		case v != v:
			return v
		}
		return 0
	})
}

// minusOne is -1 for signed types; unsigned types never ask.
func minusOne[T numeric.Real]() T { return T(0) - T(1) }

// Square sets y = x².
func Square[T numeric.Number](y, x []T) {
	if !map32(simd.square, y, x) && !mulComplex(y, x, x) {
		kernel.Map(y, x, func(v T) T { return v * v })
	}
}

// Reciprocal sets y = 1/x.
func Reciprocal[T numeric.Inexact](y, x []T) { ScalarDiv(y, 1, x) }

// Relu sets y to x where x is positive, to NaN where it is NaN, else to 0.
func Relu[T numeric.Real](y, x []T) {
	if !map32(simd.relu, y, x) {
		kernel.Map(y, x, relu[T])
	}
}

func relu[T numeric.Real](v T) T {
	if v > 0 || v != v {
		return v
	}
	return 0
}

// ReluGrad sets dx to dy where the feature x is positive, else to 0.
func ReluGrad[T numeric.Real](dx, dy, x []T) {
	if !zip32(simd.reluGrad, dx, dy, x) {
		kernel.Zip(dx, dy, x, func(d, v T) T {
			if v > 0 {
				return d
			}
			return 0
		})
	}
}

// Relu6Grad sets dx to dy where the feature x is above 0 and below 6, else to 0.
func Relu6Grad[T numeric.Real](dx, dy, x []T) {
	if !zip32(simd.relu6Grad, dx, dy, x) {
		kernel.Zip(dx, dy, x, func(d, v T) T {
			if v > 0 && v < 6 {
				return d
			}
			return 0
		})
	}
}

// TanhGrad sets dx = dy·(1-y²) for y = tanh x.
func TanhGrad[T numeric.Inexact](dx, y, dy []T) {
	if !zip32(simd.tanhGrad, dx, y, dy) {
		kernel.Zip(dx, y, dy, func(y, d T) T { return d * (1 - y*y) })
	}
}

// SigmoidGrad sets dx = dy·y·(1-y) for y = sigmoid x.
func SigmoidGrad[T numeric.Inexact](dx, y, dy []T) {
	if !zip32(simd.sigmoidGrad, dx, y, dy) {
		kernel.Zip(dx, y, dy, func(y, d T) T { return d * y * (1 - y) })
	}
}

// Not sets y = !x.
func Not(y, x []bool) { kernel.Map(y, x, func(v bool) bool { return !v }) }
