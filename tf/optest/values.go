package optest

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Vec returns a vector.
func Vec[T tf.Elem](v ...T) *core.Tensor { return Arr(tf.Shape{len(v)}, v...) }

// Mat returns a matrix with rows of n elements.
func Mat[T tf.Elem](n int, v ...T) *core.Tensor { return Arr(tf.Shape{len(v) / n, n}, v...) }

// Arr returns a tensor of the given shape.
func Arr[T tf.Elem](s tf.Shape, v ...T) *core.Tensor {
	t := core.NewTensor(tf.TypeOf[T](), s)
	if copy(core.Data[T](t), v) != t.Len() {
		panic(fmt.Sprintf("%d values for shape %v", len(v), s))
	}
	return t
}

// Seq returns float32 numbers of both signs, none of them an integer and no
// two equal, of the given shape.
func Seq(s ...int) *core.Tensor {
	t := core.NewTensor(tf.Float32, append(tf.Shape{}, s...))
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = float32(i*37%101)/16 - 2.97
	}
	return t
}

// Positive is Seq with numbers greater than 0.
func Positive(s ...int) *core.Tensor {
	t := Seq(s...)
	for i, v := range core.Data[float32](t) {
		core.Data[float32](t)[i] = v + 3.5
	}
	return t
}

// Within returns float32 numbers between low and high, no two equal.
func Within(low, high float32, s ...int) *core.Tensor {
	t := Seq(s...)
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = low + (high-low)*(float32(i*37%101)+0.7)/102
	}
	return t
}

// I32 returns a vector.
func I32(v ...int32) *core.Tensor { return Vec(v...) }

// Scalar returns a tensor without dimensions.
func Scalar[T tf.Elem](v T) *core.Tensor { return core.Scalar(v) }

// Convert returns t with elements of type d. Unsigned types get absolute
// values, complex ones an imaginary part.
func Convert(t *core.Tensor, d tf.DType) *core.Tensor {
	out := core.NewTensor(d, t.Shape())
	vals := make([]float64, t.Len())
	if !elementwise.Cast(vals, elements(t)) {
		return out
	}
	for i, v := range vals {
		switch {
		case d == tf.String:
			core.Data[string](out)[i] = fmt.Sprint(v)
		case d == tf.Uint8 || d == tf.Uint16 || d == tf.Uint32 || d == tf.Uint64 || d == tf.QUint8 || d == tf.QUint16:
			vals[i] = max(v, -v)
		}
	}
	if d.IsComplex() {
		z := make([]complex128, len(vals))
		for i, v := range vals {
			z[i] = complex(v, 0.5-v/4)
		}
		elementwise.Cast(elements(out), z)
		return out
	}
	elementwise.Cast(elements(out), vals)
	return out
}

// elements returns the elements of t as a slice of their type, nil if they are
// objects.
func elements(t *core.Tensor) any {
	if f := elementsOf[t.DType()]; f != nil {
		return f(t)
	}
	return nil
}

// hasElements reports whether d has elements to write down in a test.
func hasElements(d tf.DType) bool { return d == tf.String || elementsOf[d] != nil }

var elementsOf = map[tf.DType]func(*core.Tensor) any{
	tf.Float32: data[float32], tf.Float64: data[float64], tf.Float16: data[tf.Half], tf.BFloat16: data[tf.BF16],
	tf.Int8: data[int8], tf.Int16: data[int16], tf.Int32: data[int32], tf.Int64: data[int64],
	tf.Uint8: data[uint8], tf.Uint16: data[uint16], tf.Uint32: data[uint32], tf.Uint64: data[uint64],
	tf.QInt8: data[int8], tf.QInt16: data[int16], tf.QInt32: data[int32], tf.QUint8: data[uint8], tf.QUint16: data[uint16],
	tf.Complex64: data[complex64], tf.Complex128: data[complex128], tf.Bool: data[bool],
}

func data[T tf.Elem](t *core.Tensor) any { return core.Data[T](t) }
