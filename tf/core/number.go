package core

import (
	"reflect"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// NumberOf returns a scalar of type d with the value of v, a Go number, bool or
// string. It must be a value of d: 1.5 is no int32, 300 no uint8, as in
// TensorFlow's Python API. Floating-point types round to their nearest number, which is
// infinite for one that is too large.
func NumberOf(d DType, v any) (*Tensor, error) {
	d = d.Base()
	r := reflect.ValueOf(v)
	switch {
	case v == nil:
	case r.Kind() == reflect.Bool && d == Bool:
		return Scalar(r.Bool()), nil
	case r.Kind() == reflect.String && d == String:
		return Scalar(r.String()), nil
	case r.CanInt() && d.IsInteger():
		return integerOf(d, v, r.Int() < 0, uint64(r.Int()))
	case r.CanUint() && d.IsInteger():
		return integerOf(d, v, false, r.Uint())
	case r.CanInt():
		return inexactOf(d, v, complex(float64(r.Int()), 0))
	case r.CanUint():
		return inexactOf(d, v, complex(float64(r.Uint()), 0))
	case r.CanFloat():
		return inexactOf(d, v, complex(r.Float(), 0))
	case r.CanComplex() && d.IsComplex():
		return inexactOf(d, v, r.Complex())
	}
	return nil, notOf(d, v)
}

func notOf(d DType, v any) error {
	return Errorf(InvalidArgument, "a number for a tensor of type %v must be a value of that type, got %v of type %T", d, v, v)
}

// integerOf returns the integer with the given bits in two's complement.
func integerOf(d DType, v any, negative bool, bits uint64) (*Tensor, error) {
	var t *Tensor
	var ok bool
	switch d {
	case Int8:
		t, ok = fitted[int8](negative, bits)
	case Int16:
		t, ok = fitted[int16](negative, bits)
	case Int32:
		t, ok = fitted[int32](negative, bits)
	case Int64:
		t, ok = fitted[int64](negative, bits)
	case Uint8:
		t, ok = fitted[uint8](negative, bits)
	case Uint16:
		t, ok = fitted[uint16](negative, bits)
	case Uint32:
		t, ok = fitted[uint32](negative, bits)
	case Uint64:
		t, ok = fitted[uint64](negative, bits)
	}
	if !ok {
		return nil, notOf(d, v)
	}
	return t, nil
}

func fitted[T interface {
	Elem
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}](negative bool, bits uint64) (*Tensor, bool) {
	n := T(bits)
	return Scalar(n), uint64(n) == bits && (n < 0) == negative
}

// inexactOf returns c as a floating-point or complex number.
func inexactOf(d DType, v any, c complex128) (*Tensor, error) {
	switch x := real(c); d {
	case Float32:
		return Scalar(float32(x)), nil
	case Float64:
		return Scalar(x), nil
	case Float16:
		return Scalar(numeric.HalfFromFloat32(float32(x))), nil
	case BFloat16:
		return Scalar(numeric.BFloat16FromFloat32(float32(x))), nil
	case Complex64:
		return Scalar(complex64(c)), nil
	case Complex128:
		return Scalar(c), nil
	}
	return nil, notOf(d, v)
}
