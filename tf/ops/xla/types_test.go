package xla

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
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

// TestConvolutionsOfIntegers: integers of all types are convolved, modulo what the type holds.
func TestConvolutionsOfIntegers(t *testing.T) {
	for want, x := range map[string]any{
		"int8[1,1,1,1]{50}": [][][][]int8{{{{100}, {-3}}, {{3}, {-4}}}}, "uint8[1,1,1,1]{146}": [][][][]uint8{{{{200}, {3}}, {{3}, {8}}}},
		"int16[1,1,1,1]{30}": [][][][]int16{{{{1}, {2}}, {{3}, {4}}}}, "uint16[1,1,1,1]{30}": [][][][]uint16{{{{1}, {2}}, {{3}, {4}}}},
		"uint32[1,1,1,1]{30}": [][][][]uint32{{{{1 << 31}, {2}}, {{1}, {5}}}}, "int64[1,1,1,1]{30}": [][][][]int64{{{{1}, {2}}, {{3}, {4}}}},
		"uint64[1,1,1,1]{30}": [][][][]uint64{{{{1 << 63}, {2}}, {{1}, {5}}}},
	} {
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			e := in[0].Type.Elem
			return w.op("convolution", tensorOf(e, 1, 1, 1, 1), attrs{
				"input_batch_dimension": intAttr(0), "input_feature_dimension": intAttr(3), "input_spatial_dimensions": intsAttr([]int{1, 2}),
				"kernel_input_feature_dimension": intAttr(2), "kernel_output_feature_dimension": intAttr(3), "kernel_spatial_dimensions": intsAttr([]int{0, 1}),
				"output_batch_dimension": intAttr(0), "output_feature_dimension": intAttr(3), "output_spatial_dimensions": intsAttr([]int{1, 2}),
			}, in[0], w.op("reshape", tensorOf(e, 2, 2, 1, 1), nil, in[0]))
		}, x)
		if got.String() != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

// TestSmallFloats: floating-point numbers of 8 bits are computed with as others are.
func TestSmallFloats(t *testing.T) {
	for _, e := range []stablehlo.Elem{"f8E5M2", "f8E4M3FN"} {
		small := tensorOf(e, 4)
		for name, want := range map[string]string{
			"sign": "{-1, 0, 1, 1}", "round_nearest_afz": "{-2, 0, 1, 2}", "select": "{-1.5, 0, 0.5, 1.5}", "maximum": "{-1.5, 0, 0.5, 1.5}",
			"convert": "{1, 0, 1, 1}", "iota": "{0, 1, 2, 3}", "compare": "{1, 1, 1, 1}", "total": "{0, 0, 0, 0}",
		} {
			got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
				x := w.op("convert", small, nil, in[0])
				switch name {
				case "select":
					x = w.op(name, small, nil, w.op("compare", tensorOf("i1", 4), attrs{"comparison_direction": stablehlo.Enum("EQ")}, x, x), x, w.op("negate", small, nil, x))
				case "maximum":
					x = w.op(name, small, nil, x, x)
				case "convert": // to booleans, integers, and back
					x = w.op(name, small, nil, w.op(name, tensorOf("i32", 4), nil, w.op(name, tensorOf("i1", 4), nil, x)))
				case "iota":
					x = w.op(name, small, attrs{"iota_dimension": intAttr(0)})
				case "compare":
					x = w.op("convert", small, nil, w.op(name, tensorOf("i1", 4), attrs{"comparison_direction": stablehlo.Enum("GE")}, x, x))
				case "total":
					x = w.op("convert", small, nil, w.op("compare", tensorOf("i1", 4), attrs{"comparison_direction": stablehlo.Enum("LT"), "compare_type": stablehlo.Enum("TOTALORDER")}, x, x))
				default:
					x = w.op(name, small, nil, x)
				}
				return w.op("convert", tensorOf("f32", 4), nil, x)
			}, []float32{-1.5, 0, 0.5, 1.5})
			if want = "float32[4]" + want; got.String() != want {
				t.Errorf("%s of %s: want %s, got %s", name, e, want, got)
			}
		}
	}
}

// TestSmallFloatsMoved: floating-point numbers of 8 bits are put elsewhere, and joined by windows.
func TestSmallFloatsMoved(t *testing.T) {
	region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("f8E5M2")}, {Type: tensorOf("f8E5M2"), Index: 1}}}
	r := writer{region}
	r.ends(r.op("add", tensorOf("f8E5M2"), nil, region.Args...))
	at := attrs{"update_window_dims": intsAttr(nil), "inserted_window_dims": intsAttr([]int{0}), "scatter_dims_to_operand_dims": intsAttr([]int{0}), "index_vector_dim": intAttr(1)}
	for _, c := range []struct {
		name string
		a    attrs
		want string
	}{
		{"reverse", attrs{"dimensions": intsAttr([]int{0})}, "{3, 2, -1.5}"},
		{"pad", attrs{"edge_padding_low": intsAttr([]int{1}), "edge_padding_high": intsAttr([]int{-1}), "interior_padding": intsAttr([]int{0})}, "{0.5, -1.5, 2}"},
		{"reduce_window", attrs{"window_dimensions": intsAttr([]int{2}), "padding": intsAttr([]int{1, 0})}, "{-1, 1, 6}"},
		{"scatter", at, "{-1.5, 2, 6}"},
	} {
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			small := tensorOf("f8E5M2", 3)
			x, half := w.op("convert", small, nil, in[0]), w.op("convert", tensorOf("f8E5M2"), nil, in[1])
			op := &stablehlo.Op{Name: c.name, Attrs: c.a, Operands: []*stablehlo.Value{x, half}}
			switch c.name {
			case "reverse":
				op.Operands = op.Operands[:1]
			case "scatter":
				op.Operands, op.Regions = []*stablehlo.Value{x, in[2], x}, []*stablehlo.Block{region}
			case "reduce_window":
				op.Regions = []*stablehlo.Block{region}
			}
			op.Results = []*stablehlo.Value{{Type: small, Def: op}}
			w.b.Ops = append(w.b.Ops, op)
			return w.op("convert", tensorOf("f32", 3), nil, op.Results[0])
		}, []float32{-1.5, 2, 3}, float32(0.5), [][]int32{{5}, {-1}, {2}})
		if want := "float32[3]" + c.want; got.String() != want {
			t.Errorf("%s: want %s, got %s", c.name, want, got)
		}
	}
}

// TestStartsOfUint64: a start beyond int64 is moved to the last one that there is.
func TestStartsOfUint64(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		at := w.op("constant", tensorOf("ui64"), attrs{"value": stablehlo.Dense{Type: tensorOf("ui64"), Data: []byte{1, 0, 0, 0, 0, 0, 0, 0x80}}})
		return w.op("dynamic_slice", tensorOf("f32", 2), attrs{"slice_sizes": intsAttr([]int{2})}, in[0], at)
	}, []float32{1, 2, 3, 4})
	if want := "float32[2]{3, 4}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestBitsOfSmallFloats: the bytes of floating-point numbers of 8 bits stay as they are, those
// of NaN too.
func TestBitsOfSmallFloats(t *testing.T) {
	all := make([]uint8, 256)
	for i := range all {
		all[i] = uint8(i)
	}
	for _, e := range []stablehlo.Elem{"f8E5M2", "f8E4M3FN"} {
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			small := w.op("bitcast_convert", tensorOf(e, 256), nil, in[0])
			signed := w.op("bitcast_convert", tensorOf("i8", 256), nil, small)
			other := w.op("bitcast_convert", tensorOf("f8E5M2", 256), nil, signed)
			words := w.op("bitcast_convert", tensorOf("ui32", 64), nil, w.op("reshape", tensorOf("f8E5M2", 64, 4), nil, other))
			last := w.op("bitcast_convert", tensorOf(e, 64, 4), nil, words)
			return w.op("bitcast_convert", tensorOf("ui8", 256), nil, w.op("reshape", tensorOf(e, 256), nil, last))
		}, all)
		for i, b := range tf.Data[uint8](got) {
			if int(b) != i {
				t.Fatalf("%s: byte %d became %d", e, i, b)
			}
		}
		got = result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			return w.op("convert", tensorOf("f32", 3), nil, w.op("bitcast_convert", tensorOf(e, 3), nil, in[0]))
		}, []uint8{0x38, 0xff, 0x81})
		if want := map[stablehlo.Elem]string{"f8E5M2": "float32[3]{0.5, NaN, -1.5258789e-05}", "f8E4M3FN": "float32[3]{1, NaN, -0.001953125}"}[e]; got.String() != want {
			t.Errorf("%s: want %s, got %s", e, want, got)
		}
	}
}
