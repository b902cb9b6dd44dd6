package core

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// ScalarOf returns a scalar of a numeric type d with the value nearest to x. A type of
// integers must have x itself: 2 is an int32, 2.5 is none.
func ScalarOf(d DType, x float64) (*Tensor, error) {
	switch d.Base() {
	case Float32:
		return Scalar(float32(x)), nil
	case Float64:
		return Scalar(x), nil
	case Float16:
		return Scalar(numeric.HalfFromFloat32(float32(x))), nil
	case BFloat16:
		return Scalar(numeric.BFloat16FromFloat32(float32(x))), nil
	case Complex64:
		return Scalar(complex(float32(x), 0)), nil
	case Complex128:
		return Scalar(complex(x, 0)), nil
	}
	return wholeScalarOf(d, x)
}

// wholeScalarOf is ScalarOf for integers.
func wholeScalarOf(d DType, x float64) (*Tensor, error) {
	switch d.Base() {
	case Int32:
		return whole[int32](d, x)
	case Int64:
		return whole[int64](d, x)
	case Int8:
		return whole[int8](d, x)
	case Int16:
		return whole[int16](d, x)
	case Uint8:
		return whole[uint8](d, x)
	case Uint16:
		return whole[uint16](d, x)
	case Uint32:
		return whole[uint32](d, x)
	case Uint64:
		return whole[uint64](d, x)
	}
	return nil, Errorf(InvalidArgument, "a number of a numeric type is needed, got type %v", d)
}

// whole is a scalar of type T, which must have x. What is out of range is not converted:
// the result would be another one on each kind of processor.
func whole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](d DType, x float64) (*Tensor, error) {
	below, bits := T(0), 8*d.Size()
	low := 0.0
	if below--; below < 0 { // T has a sign
		bits--
		low = -math.Ldexp(1, bits)
	}
	if math.Trunc(x) == x && low <= x && x < math.Ldexp(1, bits) {
		return Scalar(T(x)), nil
	}
	return nil, Errorf(InvalidArgument, "the number must be one of type %v, got %v", d, x)
}
