package core_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestDTypesAreTensorFlows(t *testing.T) {
	if len(golden.Types) < 30 {
		t.Fatalf("only %d types", len(golden.Types))
	}
	for _, want := range golden.Types {
		d := core.DType(want.Number)
		if !d.Valid() || d.String() != want.Name {
			t.Errorf("type %d is %q (valid %v), want %q", want.Number, d, d.Valid(), want.Name)
		}
		if d.IsFloat() != want.Floating || d.IsInteger() != want.Integer || d.IsComplex() != want.Complex {
			t.Errorf("%v: float %v, integer %v, complex %v; want %v, %v, %v", d, d.IsFloat(), d.IsInteger(), d.IsComplex(), want.Floating, want.Integer, want.Complex)
		}
		if isObject := d == core.String || d == core.Resource || d == core.Variant; !isObject && d.Size() != want.Size {
			t.Errorf("%v has elements of %d bytes, want %d", d, d.Size(), want.Size)
		}
		if d.Ref().String() != want.Ref || int(d.Ref()) != want.Number+100 || d.Ref().Base() != d || !d.Ref().Valid() {
			t.Errorf("%v's reference type is %v (%d), want %s", d, d.Ref(), d.Ref(), want.Ref)
		}
		if got, ok := core.DTypeByName(want.Name); !ok || got != d {
			t.Errorf("DTypeByName(%q) = %v, %v", want.Name, got, ok)
		}
		if got, ok := core.DTypeByName(want.Ref); !ok || got != d.Ref() {
			t.Errorf("DTypeByName(%q) = %v, %v", want.Ref, got, ok)
		}
	}
}

func TestSignatureNamesOfDTypes(t *testing.T) {
	for d, want := range map[core.DType]string{
		core.Float32: "float", core.Float64: "double", core.Float16: "half", core.Int32: "int32", core.BFloat16: "bfloat16",
		core.Bool: "bool", core.String: "string", core.Float32.Ref(): "float_ref", core.Complex64: "complex64",
	} {
		if d.CName() != want {
			t.Errorf("%v is called %q in signatures, want %q", d, d.CName(), want)
		}
		if got, ok := core.DTypeByName(want); !ok || got != d {
			t.Errorf("DTypeByName(%q) = %v, %v", want, got, ok)
		}
	}
}

func TestInvalidDTypes(t *testing.T) {
	for _, d := range []core.DType{core.Invalid, 34, 99, 100, 134, 255} {
		if d.Valid() {
			t.Errorf("type %d counts as valid", uint8(d))
		}
		if d.Size() != 0 || d.String() == "" || d.CName() == "" {
			t.Errorf("type %d: size %d, names %q and %q", uint8(d), d.Size(), d, d.CName())
		}
	}
	if s := core.DType(99).String(); s != "DType(99)" {
		t.Errorf("type 99 is printed as %q", s)
	}
	for _, name := range []string{"", "_ref", "float33", "invalid", "FLOAT", "float_ref_ref"} {
		if d, ok := core.DTypeByName(name); ok {
			t.Errorf("DTypeByName(%q) = %v", name, d)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for got, want := range map[core.DType]core.DType{
		core.TypeOf[float32](): core.Float32, core.TypeOf[float64](): core.Float64, core.TypeOf[int8](): core.Int8, core.TypeOf[int16](): core.Int16,
		core.TypeOf[int32](): core.Int32, core.TypeOf[int64](): core.Int64, core.TypeOf[uint8](): core.Uint8, core.TypeOf[uint16](): core.Uint16,
		core.TypeOf[uint32](): core.Uint32, core.TypeOf[uint64](): core.Uint64, core.TypeOf[bool](): core.Bool, core.TypeOf[string](): core.String,
		core.TypeOf[complex64](): core.Complex64, core.TypeOf[complex128](): core.Complex128, core.TypeOf[core.Half](): core.Float16, core.TypeOf[core.BF16](): core.BFloat16,
	} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
