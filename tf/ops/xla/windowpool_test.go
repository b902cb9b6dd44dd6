package xla

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// windowsOf reduces windows of float32, beginning with init.
func windowsOf(how string, init float32, t stablehlo.Type, size, pads []int) builds {
	scalar := tensorOf("f32")
	region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}, {Type: scalar, Index: 1}}}
	r := writer{region}
	r.ends(r.op(how, scalar, nil, region.Args...))
	return func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		first := w.op("constant", scalar, attrs{"value": stablehlo.Dense{Type: scalar, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(init))}})
		op := &stablehlo.Op{Name: "reduce_window", Operands: append(in, first), Regions: []*stablehlo.Block{region},
			Attrs: attrs{"window_dimensions": intsAttr(size), "padding": intsAttr(pads)}}
		op.Results = []*stablehlo.Value{{Type: t, Def: op}}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[0]
	}
}

// TestSumsOfWindowsAreExact: sums of whole numbers are whole numbers, of windows of any size.
func TestSumsOfWindowsAreExact(t *testing.T) {
	for k := 2; k < 65; k++ {
		x := make([][]float32, k)
		for i := range x {
			x[i] = make([]float32, k)
			for j := range i + 1 {
				x[i][j] = 1
			}
		}
		got := tf.Data[float32](result(t, windowsOf("add", 0, tensorOf("f32", int64(k), 1), []int{1, k}, make([]int, 4)), x))
		for i, v := range got {
			if v != float32(i+1) {
				t.Fatalf("%d ones among %d numbers: got %v", i+1, k, v)
			}
		}
	}
}
