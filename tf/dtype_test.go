package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

func TestDTypesAreTensorFlows(t *testing.T) {
	if len(golden.Types) < 30 {
		t.Fatalf("only %d types", len(golden.Types))
	}
	for _, want := range golden.Types {
		d := tf.DType(want.Number)
		if !d.Valid() || d.String() != want.Name {
			t.Errorf("type %d is %q (valid %v), want %q", want.Number, d, d.Valid(), want.Name)
		}
		if d.IsFloat() != want.Floating || d.IsInteger() != want.Integer || d.IsComplex() != want.Complex {
			t.Errorf("%v: float %v, integer %v, complex %v; want %v, %v, %v", d, d.IsFloat(), d.IsInteger(), d.IsComplex(), want.Floating, want.Integer, want.Complex)
		}
		if isObject := d == tf.String || d == tf.Resource || d == tf.Variant; !isObject && d.Size() != want.Size {
			t.Errorf("%v has elements of %d bytes, want %d", d, d.Size(), want.Size)
		}
		if d.Ref().String() != want.Ref || int(d.Ref()) != want.Number+100 || d.Ref().Base() != d || !d.Ref().Valid() {
			t.Errorf("%v's reference type is %v (%d), want %s", d, d.Ref(), d.Ref(), want.Ref)
		}
		if got, ok := tf.DTypeByName(want.Name); !ok || got != d {
			t.Errorf("DTypeByName(%q) = %v, %v", want.Name, got, ok)
		}
		if got, ok := tf.DTypeByName(want.Ref); !ok || got != d.Ref() {
			t.Errorf("DTypeByName(%q) = %v, %v", want.Ref, got, ok)
		}
	}
}

func TestSignatureNamesOfDTypes(t *testing.T) {
	for d, want := range map[tf.DType]string{
		tf.Float32: "float", tf.Float64: "double", tf.Float16: "half", tf.Int32: "int32", tf.BFloat16: "bfloat16",
		tf.Bool: "bool", tf.String: "string", tf.Float32.Ref(): "float_ref", tf.Complex64: "complex64",
	} {
		if d.CName() != want {
			t.Errorf("%v is called %q in signatures, want %q", d, d.CName(), want)
		}
		if got, ok := tf.DTypeByName(want); !ok || got != d {
			t.Errorf("DTypeByName(%q) = %v, %v", want, got, ok)
		}
	}
}

func TestInvalidDTypes(t *testing.T) {
	for _, d := range []tf.DType{tf.Invalid, 34, 99, 100, 134, 255} {
		if d.Valid() {
			t.Errorf("type %d counts as valid", uint8(d))
		}
		if d.Size() != 0 || d.String() == "" || d.CName() == "" {
			t.Errorf("type %d: size %d, names %q and %q", uint8(d), d.Size(), d, d.CName())
		}
	}
	if s := tf.DType(99).String(); s != "DType(99)" {
		t.Errorf("type 99 is printed as %q", s)
	}
	for _, name := range []string{"", "_ref", "float33", "invalid", "FLOAT", "float_ref_ref"} {
		if d, ok := tf.DTypeByName(name); ok {
			t.Errorf("DTypeByName(%q) = %v", name, d)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for got, want := range map[tf.DType]tf.DType{
		tf.TypeOf[float32](): tf.Float32, tf.TypeOf[float64](): tf.Float64, tf.TypeOf[int8](): tf.Int8, tf.TypeOf[int16](): tf.Int16,
		tf.TypeOf[int32](): tf.Int32, tf.TypeOf[int64](): tf.Int64, tf.TypeOf[uint8](): tf.Uint8, tf.TypeOf[uint16](): tf.Uint16,
		tf.TypeOf[uint32](): tf.Uint32, tf.TypeOf[uint64](): tf.Uint64, tf.TypeOf[bool](): tf.Bool, tf.TypeOf[string](): tf.String,
		tf.TypeOf[complex64](): tf.Complex64, tf.TypeOf[complex128](): tf.Complex128, tf.TypeOf[tf.Half](): tf.Float16, tf.TypeOf[tf.BF16](): tf.BFloat16,
	} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
