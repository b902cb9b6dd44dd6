package core

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Data returns the elements of t without copying. Like a type assertion it
// panics if elements of t are not of type T; see Values.
func Data[T Elem](t *Tensor) []T {
	if dtypes[t.dtype].storage != TypeOf[T]() {
		panic(fmt.Sprintf("tf: Data[%v] of a %v tensor", TypeOf[T](), t.dtype))
	}
	if t.buf == nil {
		return t.obj.([]T)
	}
	return memory.Slice[T](t.buf)
}

// Values returns the elements of t without copying, or an error if they are
// not of type T.
func Values[T Elem](t *Tensor) ([]T, error) {
	if dtypes[t.dtype].storage != TypeOf[T]() {
		return nil, Errorf(InvalidArgument, "elements must be asked for in the tensor's own type: tensor is %v, asked for %v", t.dtype, TypeOf[T]())
	}
	if !t.Addressable() {
		return nil, Errorf(FailedPrecondition, "elements of a tensor in memory space %q cannot be read by the host", t.buf.Space())
	}
	return Data[T](t), nil
}

// AnyData returns the elements of t, without copying, as a slice of their Go type:
// a []float32 for Float32. It is nil for resources, variants and types that Go has no
// numbers for.
func AnyData(t *Tensor) any {
	if all := elementsOf[t.DType()]; all != nil {
		return all(t)
	}
	return nil
}

var elementsOf = map[DType]func(*Tensor) any{
	Float32: sliceOf[float32], Float64: sliceOf[float64], Float16: sliceOf[Half], BFloat16: sliceOf[BF16],
	Int8: sliceOf[int8], Int16: sliceOf[int16], Int32: sliceOf[int32], Int64: sliceOf[int64],
	Uint8: sliceOf[uint8], Uint16: sliceOf[uint16], Uint32: sliceOf[uint32], Uint64: sliceOf[uint64],
	QInt8: sliceOf[int8], QInt16: sliceOf[int16], QInt32: sliceOf[int32], QUint8: sliceOf[uint8], QUint16: sliceOf[uint16],
	Complex64: sliceOf[complex64], Complex128: sliceOf[complex128], Bool: sliceOf[bool], String: sliceOf[string],
}

func sliceOf[T Elem](t *Tensor) any { return Data[T](t) }

// Handles returns the elements of a Resource tensor, nil for other types.
func (t *Tensor) Handles() []ResourceHandle { h, _ := t.obj.([]ResourceHandle); return h }

// Variants returns the elements of a Variant tensor, nil for other types.
func (t *Tensor) Variants() []VariantValue { v, _ := t.obj.([]VariantValue); return v }

// At returns element i, counted in row-major order, as a Go value of its type.
func (t *Tensor) At(i int) any {
	switch dtypes[t.dtype].storage {
	case Float32:
		return Data[float32](t)[i]
	case Float64:
		return Data[float64](t)[i]
	case Int8:
		return Data[int8](t)[i]
	case Int16:
		return Data[int16](t)[i]
	case Int32:
		return Data[int32](t)[i]
	case Int64:
		return Data[int64](t)[i]
	case Uint8:
		return Data[uint8](t)[i]
	case Uint16:
		return Data[uint16](t)[i]
	case Uint32:
		return Data[uint32](t)[i]
	case Uint64:
		return Data[uint64](t)[i]
	case Bool:
		return Data[bool](t)[i]
	case String:
		return Data[string](t)[i]
	case Complex64:
		return Data[complex64](t)[i]
	case Complex128:
		return Data[complex128](t)[i]
	case Float16:
		return Data[Half](t)[i]
	case BFloat16:
		return Data[BF16](t)[i]
	}
	return nil
}

// Ints returns the elements of an Int32 or Int64 tensor as ints: shapes, axes,
// indices.
func (t *Tensor) Ints() ([]int, error) {
	out := make([]int, t.Len())
	switch t.dtype {
	case Int32:
		for i, v := range Data[int32](t) {
			out[i] = int(v)
		}
	case Int64:
		for i, v := range Data[int64](t) {
			out[i] = int(v)
		}
	default:
		return nil, Errorf(InvalidArgument, "must be int32 or int64, got %v", t.dtype)
	}
	return out, nil
}
