package core

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// ScalarOf returns a scalar of a numeric type d with the value nearest to x, for integers
// that without what is behind the point. Those but int32 and int64 must have it.
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
	case Int32:
		return Scalar(int32(x)), nil
	case Int64:
		return Scalar(int64(x)), nil
	case Complex64:
		return Scalar(complex(float32(x), 0)), nil
	case Complex128:
		return Scalar(complex(x, 0)), nil
	}
	return smallScalarOf(d, x)
}

// smallScalarOf is ScalarOf for the integers that few computations are about.
func smallScalarOf(d DType, x float64) (*Tensor, error) {
	switch d.Base() {
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

// whole is a scalar of type T, which must have the whole part of x.
func whole[T int8 | int16 | uint8 | uint16 | uint32 | uint64](d DType, x float64) (*Tensor, error) {
	if v := T(x); float64(v) == math.Trunc(x) {
		return Scalar(v), nil
	}
	return nil, Errorf(InvalidArgument, "the number must be one of type %v, got %v", d, x)
}
