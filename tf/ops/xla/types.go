package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// dtypes has the types of elements that tensors can have.
var dtypes = map[stablehlo.Elem]tf.DType{
	"i1": tf.Bool, "i8": tf.Int8, "i16": tf.Int16, "i32": tf.Int32, "i64": tf.Int64,
	"ui8": tf.Uint8, "ui16": tf.Uint16, "ui32": tf.Uint32, "ui64": tf.Uint64,
	"f16": tf.Float16, "bf16": tf.BFloat16, "f32": tf.Float32, "f64": tf.Float64,
	"f8E4M3FN": tf.Float8E4M3, "f8E5M2": tf.Float8E5M2,
	"complex<f32>": tf.Complex64, "complex<f64>": tf.Complex128,
}

// typeOf returns the type of the elements of a tensor.
func typeOf(op *stablehlo.Op, t stablehlo.Type) (tf.DType, error) {
	if t.Kind != stablehlo.Tensor {
		return tf.Invalid, refused(op, "its operands and results must be tensors")
	}
	if t.Quantized {
		return tf.Invalid, unsupported(op, "quantized elements are not supported")
	}
	d, ok := dtypes[t.Elem]
	if !ok {
		return tf.Invalid, unsupported(op, "elements of type %s are not supported", t.Elem)
	}
	return d, nil
}

// shapeOf returns the shape of a type, with -1 for sizes that are not known.
func shapeOf(t stablehlo.Type) tf.Shape {
	s := make(tf.Shape, len(t.Shape))
	for i, d := range t.Shape {
		s[i] = int(max(d, -1))
	}
	return s
}

// static reports whether all sizes of a type are known.
func static(t stablehlo.Type) bool { return shapeOf(t).Known() }

func isFloat(d tf.DType) bool {
	switch d {
	case tf.Float16, tf.BFloat16, tf.Float32, tf.Float64, tf.Float8E4M3, tf.Float8E5M2:
		return true
	}
	return false
}

// isSmall reports whether a type is one of floating-point numbers of 8 bits.
func isSmall(d tf.DType) bool { return d == tf.Float8E4M3 || d == tf.Float8E5M2 }

func isComplex(d tf.DType) bool { return d == tf.Complex64 || d == tf.Complex128 }

// bits returns the width of integers.
func bits(d tf.DType) int { return 8 * d.Size() }

var unsigned = map[tf.DType]tf.DType{
	tf.Int8: tf.Uint8, tf.Int16: tf.Uint16, tf.Int32: tf.Uint32, tf.Int64: tf.Uint64,
	tf.Uint8: tf.Uint8, tf.Uint16: tf.Uint16, tf.Uint32: tf.Uint32, tf.Uint64: tf.Uint64,
}

func isUnsigned(d tf.DType) bool { return unsigned[d] == d && d != tf.Invalid }

func isInt(d tf.DType) bool { return unsigned[d] != tf.Invalid }
