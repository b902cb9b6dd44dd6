package xla

import (
	"math"
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

// TestPowersOfUint64 has exponents that int64 does not hold: the results are those of products
// modulo 2^64.
func TestPowersOfUint64(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value { return w.op("power", in[0].Type, nil, in...) },
		[]uint64{3, 1<<63 + 1, 2, 1, math.MaxUint64, 7, 0, 5}, []uint64{1 << 63, 1<<63 + 3, 63, math.MaxUint64, math.MaxUint64, 0, 1 << 63, 2})
	if want := "uint64[8]{1, 9223372036854775809, 9223372036854775808, 1, 18446744073709551615, 1, 0, 25}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
