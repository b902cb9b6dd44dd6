package xla

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestSmallFloatsSorted: floating-point numbers of 8 bits are put in order.
func TestSmallFloatsSorted(t *testing.T) {
	for _, e := range []stablehlo.Elem{"f8E5M2", "f8E4M3FN"} {
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf(e)}, {Type: tensorOf(e), Index: 1}}}
		r := writer{region}
		r.ends(r.op("compare", tensorOf("i1"), attrs{"comparison_direction": stablehlo.Enum("LT"), "compare_type": stablehlo.Enum("TOTALORDER")}, region.Args...))
		for name, want := range map[string]string{"sort": "float32[4]{-1.5, 0, 3, NaN}", "top_k": "float32[2]{NaN, 3}"} {
			got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
				x := w.op("convert", tensorOf(e, 4), nil, in[0])
				op := &stablehlo.Op{Name: name, Operands: []*stablehlo.Value{x}}
				if name == "sort" {
					op.Attrs, op.Regions = attrs{"dimension": intAttr(0)}, []*stablehlo.Block{region}
					op.Results = []*stablehlo.Value{{Type: x.Type, Def: op}}
				} else {
					op.Attrs = attrs{"k": intAttr(2)}
					op.Results = []*stablehlo.Value{{Type: tensorOf(e, 2), Def: op}, {Type: tensorOf("i32", 2), Def: op, Index: 1}}
				}
				w.b.Ops = append(w.b.Ops, op)
				return w.op("convert", tensorOf("f32", op.Results[0].Type.Shape...), nil, op.Results[0])
			}, []float32{3, float32(math.NaN()), -1.5, 0})
			if got.String() != want {
				t.Errorf("%s of %s: want %s, got %s", name, e, want, got)
			}
		}
	}
}

// TestSmallFloatsMadeOne: comparators may make zeros one, and NaN, before they compare, as
// those of JAX do.
func TestSmallFloatsMadeOne(t *testing.T) {
	for e, nan := range map[stablehlo.Elem]byte{"f8E5M2": 0x7f, "f8E4M3FN": 0x7f} {
		scalar, bit := tensorOf(e), tensorOf("i1")
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}, {Type: scalar, Index: 1}}}
		r := writer{region}
		number := func(b byte) *stablehlo.Value {
			return r.op("constant", scalar, attrs{"value": stablehlo.Dense{Type: scalar, Data: []byte{b}}})
		}
		one := func(x *stablehlo.Value) *stablehlo.Value {
			zero := number(0)
			y := r.op("select", scalar, nil, r.op("compare", bit, attrs{"comparison_direction": stablehlo.Enum("EQ")}, x, zero), zero, x)
			return r.op("select", scalar, nil, r.op("compare", bit, attrs{"comparison_direction": stablehlo.Enum("NE")}, x, x), number(nan), y)
		}
		less := attrs{"comparison_direction": stablehlo.Enum("LT"), "compare_type": stablehlo.Enum("TOTALORDER")}
		r.ends(r.op("compare", bit, less, one(region.Args[0]), one(region.Args[1])))
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			x := w.op("bitcast_convert", tensorOf(e, 5), nil, in[0])
			op := &stablehlo.Op{Name: "sort", Operands: []*stablehlo.Value{x}, Attrs: attrs{"dimension": intAttr(0)}, Regions: []*stablehlo.Block{region}}
			op.Results = []*stablehlo.Value{{Type: x.Type, Def: op}}
			w.b.Ops = append(w.b.Ops, op)
			return w.op("convert", tensorOf("f32", 5), nil, op.Results[0])
		}, []uint8{0xff, 0, 0x80, 0, 0xb8})
		want := map[stablehlo.Elem]string{"f8E5M2": "float32[5]{-0.5, 0, -0, 0, NaN}", "f8E4M3FN": "float32[5]{-1, 0, -0, 0, NaN}"}[e]
		if got.String() != want {
			t.Errorf("%s: want %s, got %s", e, want, got)
		}
	}
}
