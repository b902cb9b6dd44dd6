package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestSortedByParts: complex numbers are sorted by their real parts, and by their imaginary
// ones where those are equal, as JAX has them. Real numbers have no imaginary part to sort by.
func TestSortedByParts(t *testing.T) {
	bit := tensorOf("i1")
	sortOf := func(e stablehlo.Elem) builds {
		scalar := tensorOf(e)
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}, {Type: scalar, Index: 1}}}
		r := writer{region}
		compared := func(part, dir string) *stablehlo.Value {
			a, b := r.op(part, tensorOf("f32"), nil, region.Args[0]), r.op(part, tensorOf("f32"), nil, region.Args[1])
			return r.op("compare", bit, attrs{"comparison_direction": stablehlo.Enum(dir)}, a, b)
		}
		first, second := "real", "imag"
		if e == "f32" {
			first, second = second, first
		}
		same := r.op("and", bit, nil, compared(first, "EQ"), compared(second, "GT"))
		r.ends(r.op("or", bit, nil, compared(first, "LT"), same))
		return func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			op := &stablehlo.Op{Name: "sort", Operands: in, Attrs: attrs{"dimension": intAttr(0)}, Regions: []*stablehlo.Block{region}}
			op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
			w.b.Ops = append(w.b.Ops, op)
			return op.Results[0]
		}
	}
	got := result(t, sortOf("complex<f32>"), []complex64{2, 1 + 1i, 1 + 3i, -4i, 1 + 2i})
	if want := "complex64[5]{(0-4i), (1+3i), (1+2i), (1+1i), (2+0i)}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
	got = result(t, sortOf("f32"), []float32{2, 1, 3})
	if want := "float32[3]{3, 2, 1}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
