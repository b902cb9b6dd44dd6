package core

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// A DType is the element type of a tensor. Its numbers are those of
// TensorFlow's DataType enum; adding 100 makes the reference type.
type DType uint8

// The element types, with TensorFlow's numbers.
const (
	Invalid    DType = 0
	Float32    DType = 1
	Float64    DType = 2
	Int32      DType = 3
	Uint8      DType = 4
	Int16      DType = 5
	Int8       DType = 6
	String     DType = 7
	Complex64  DType = 8
	Int64      DType = 9
	Bool       DType = 10
	QInt8      DType = 11
	QUint8     DType = 12
	QInt32     DType = 13
	BFloat16   DType = 14
	QInt16     DType = 15
	QUint16    DType = 16
	Uint16     DType = 17
	Complex128 DType = 18
	Float16    DType = 19
	Resource   DType = 20
	Variant    DType = 21
	Uint32     DType = 22
	Uint64     DType = 23
	Float8E5M2 DType = 24
	Float8E4M3 DType = 25
	Int4       DType = 29
	Uint4      DType = 30

	// Types that Gorge only carries: nothing computes with them.
	Float8E4M3FNUZ    DType = 26
	Float8E4M3B11FNUZ DType = 27
	Float8E5M2FNUZ    DType = 28
	Int2              DType = 31
	Uint2             DType = 32
	Float4E2M1FN      DType = 33

	refOffset DType = 100
)

const numDTypes = 34

// Half and BF16 are the Go types of Float16 and BFloat16 elements: the 16 bits
// of the number.
type (
	Half = numeric.Half
	BF16 = numeric.BFloat16
)

// Elem is the set of Go types that elements of tensors have.
type Elem interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
		bool | string | complex64 | complex128 | Half | BF16
}

type dtypeInfo struct {
	name    string // TensorFlow's Python name
	cname   string // the name in op signatures and C++ messages
	size    int    // bytes of one element; 0 when elements are Go objects
	storage DType  // the plain type that has the same Go elements
}

var dtypes = [numDTypes]dtypeInfo{
	Invalid:    {"invalid", "invalid", 0, Invalid},
	Float32:    {"float32", "float", 4, Float32},
	Float64:    {"float64", "double", 8, Float64},
	Int32:      {"int32", "int32", 4, Int32},
	Uint8:      {"uint8", "uint8", 1, Uint8},
	Int16:      {"int16", "int16", 2, Int16},
	Int8:       {"int8", "int8", 1, Int8},
	String:     {"string", "string", 0, String},
	Complex64:  {"complex64", "complex64", 8, Complex64},
	Int64:      {"int64", "int64", 8, Int64},
	Bool:       {"bool", "bool", 1, Bool},
	QInt8:      {"qint8", "qint8", 1, Int8},
	QUint8:     {"quint8", "quint8", 1, Uint8},
	QInt32:     {"qint32", "qint32", 4, Int32},
	BFloat16:   {"bfloat16", "bfloat16", 2, BFloat16},
	QInt16:     {"qint16", "qint16", 2, Int16},
	QUint16:    {"quint16", "quint16", 2, Uint16},
	Uint16:     {"uint16", "uint16", 2, Uint16},
	Complex128: {"complex128", "complex128", 16, Complex128},
	Float16:    {"float16", "half", 2, Float16},
	Resource:   {"resource", "resource", 0, Resource},
	Variant:    {"variant", "variant", 0, Variant},
	Uint32:     {"uint32", "uint32", 4, Uint32},
	Uint64:     {"uint64", "uint64", 8, Uint64},
	Float8E5M2: {"float8_e5m2", "float8_e5m2", 1, Uint8},
	Float8E4M3: {"float8_e4m3fn", "float8_e4m3fn", 1, Uint8},
	Int4:       {"int4", "int4", 1, Int8},
	Uint4:      {"uint4", "uint4", 1, Uint8},

	Float8E4M3FNUZ:    {"float8_e4m3fnuz", "float8_e4m3fnuz", 1, Uint8},
	Float8E4M3B11FNUZ: {"float8_e4m3b11fnuz", "float8_e4m3b11fnuz", 1, Uint8},
	Float8E5M2FNUZ:    {"float8_e5m2fnuz", "float8_e5m2fnuz", 1, Uint8},
	Int2:              {"int2", "int2", 1, Int8},
	Uint2:             {"uint2", "uint2", 1, Uint8},
	Float4E2M1FN:      {"float4_e2m1fn", "float4_e2m1fn", 1, Uint8},
}

// String returns TensorFlow's Python name of d: "float32", "float32_ref".
func (d DType) String() string {
	if d.IsRef() {
		return d.Base().String() + "_ref"
	}
	if !d.Valid() && d != Invalid {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// CName returns the name that op signatures and kernel messages use: "float".
func (d DType) CName() string {
	if d.IsRef() {
		return d.Base().CName() + "_ref"
	}
	if !d.Valid() && d != Invalid {
		return d.String()
	}
	return dtypes[d].cname
}

// Valid reports whether d is a known type, reference types included.
func (d DType) Valid() bool {
	b := d.Base()
	return b > Invalid && b < numDTypes && dtypes[b].name != ""
}

// IsRef reports whether d is a reference type, as ref variables have.
func (d DType) IsRef() bool { return d > refOffset }

// Base returns d without its reference part.
func (d DType) Base() DType {
	if d.IsRef() {
		return d - refOffset
	}
	return d
}

// Ref returns the reference type of d.
func (d DType) Ref() DType {
	if d.IsRef() {
		return d
	}
	return d + refOffset
}

// Size returns the bytes of one element, 0 for strings, resources and variants.
func (d DType) Size() int {
	b := d.Base()
	if b <= Invalid || b >= numDTypes {
		return 0
	}
	return dtypes[b].size
}

// IsFloat reports whether d is a real floating-point type.
func (d DType) IsFloat() bool {
	switch d.Base() {
	case Float16, BFloat16, Float32, Float64:
		return true
	}
	return d.isSmallFloat()
}

// isSmallFloat reports whether d is a floating-point type of 8 bits or fewer.
func (d DType) isSmallFloat() bool {
	switch d.Base() {
	case Float8E4M3, Float8E5M2, Float8E4M3FNUZ, Float8E4M3B11FNUZ, Float8E5M2FNUZ, Float4E2M1FN:
		return true
	}
	return false
}

// IsComplex reports whether d is a complex type.
func (d DType) IsComplex() bool { b := d.Base(); return b == Complex64 || b == Complex128 }

// Quotient returns the type of x / y in Python's sense for operands of type d:
// float32 for integers of 8 and 16 bits, float64 for larger ones, else d itself.
func (d DType) Quotient() DType {
	switch {
	case !d.IsInteger():
		return d
	case d.Size() <= 2:
		return Float32
	}
	return Float64
}

// IsInteger reports whether d is a plain integer type.
func (d DType) IsInteger() bool {
	switch d.Base() {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Int4, Uint4, Int2, Uint2:
		return true
	}
	return false
}

// DTypeByName returns the type with the given Python or signature name
// ("float32", "float", "float_ref").
func DTypeByName(name string) (DType, bool) {
	if base, ok := strings.CutSuffix(name, "_ref"); ok {
		d, ok := DTypeByName(base)
		return d.Ref(), ok && !d.IsRef()
	}
	for d, info := range dtypes {
		if d != 0 && (info.name == name || info.cname == name) && name != "" {
			return DType(d), true
		}
	}
	return Invalid, false
}

// TypeOf returns the DType whose elements are of Go type T.
func TypeOf[T Elem]() DType {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case bool:
		return Bool
	case string:
		return String
	case complex64:
		return Complex64
	case complex128:
		return Complex128
	case Half:
		return Float16
	case BF16:
		return BFloat16
	}
	return Invalid
}
