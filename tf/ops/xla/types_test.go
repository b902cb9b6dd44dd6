package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestProductsOfBooleans: products of vectors are scalars, those of other ranks keep theirs.
func TestProductsOfBooleans(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value { return w.op("dot", tensorOf("i1"), nil, in...) },
		[]bool{true, false, true}, []bool{false, false, true})
	if want := "bool[]{true}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
	got = result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		return w.op("dot_general", tensorOf("i1", 2, 2, 1), attrs{"lhs_batching_dimensions": intsAttr(nil), "rhs_batching_dimensions": intsAttr(nil),
			"lhs_contracting_dimensions": intsAttr([]int{0}), "rhs_contracting_dimensions": intsAttr([]int{0})}, in...)
	}, [][][]bool{{{true, false}, {false, false}}}, [][]bool{{true}})
	if want := "bool[2,2,1]{true, false, false, false}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
