package xla_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

// TestOps compares XLA's own operations with what XLA computes on a CPU.
func TestOps(t *testing.T) { optest.Run(t, golden) }

func direct(op, name string, in []*core.Tensor, attrs ...tf.Option) {
	optest.Add(optest.Sample{Op: op, Name: name, In: in, F: optest.Applied(op, attrs...), Types: optest.OnlyOwn, Rough: "tested by the operations that it is made of"})
}

func init() {
	type tensors = []*core.Tensor
	x, i32 := optest.Seq(3, 4), optest.I32
	for name, begin := range map[string]*core.Tensor{"inside": i32(1, 2), "before": i32(-5, 1), "behind": i32(1, 9), "int64": optest.Vec[int64](2, -1)} {
		size := optest.Convert(i32(2, 2), begin.DType())
		direct("XlaDynamicUpdateSlice", name, tensors{x, optest.Within(-1, 1, 2, 2), begin})
		direct("XlaDynamicSlice", name, tensors{x, begin, size})
	}
	direct("XlaDynamicUpdateSlice", "all", tensors{x, optest.Within(-1, 1, 3, 4), i32(1, 1)})
	direct("XlaDynamicUpdateSlice", "nothing", tensors{x, optest.Seq(2, 0), i32(1, 1)})
	direct("XlaDynamicUpdateSlice", "a row of three dimensions", tensors{optest.Seq(2, 3, 2), optest.Within(-1, 1, 2, 1, 2), i32(0, 2, 0)})
	direct("XlaDynamicUpdateSlice", "integers", tensors{optest.Vec[int8](1, 2, 3), optest.Vec[int8](9), i32(7)})
	direct("XlaEinsum", "", tensors{x, optest.Within(-1, 1, 5, 4)}, tf.Attr("equation", "ab,cb->ac"))
	direct("XlaEinsum", "batch", tensors{optest.Seq(2, 3, 4), optest.Within(-1, 1, 2, 4, 2)}, tf.Attr("equation", "abc,acd->abd"))
	direct("XlaSharding", "", tensors{x})
	direct("XlaOptimizationBarrier", "", tensors{x, i32(1, 2)})
}

// TestDirectRefused: what the operations refuse, in a step too, as long as shapes are
// not known before.
func TestDirectRefused(t *testing.T) {
	x, i32 := []float32{0, 1, 2, 3, 4, 5}, optest.I32
	for name, c := range map[string]struct {
		op     string
		update *core.Tensor // or the start of a slice
		at     []int32
		known  bool
	}{
		"rank":         {"XlaDynamicUpdateSlice", optest.Seq(4), []int32{0, 0}, true},
		"indices":      {"XlaDynamicUpdateSlice", optest.Seq(1, 1), []int32{0}, true},
		"large update": {"XlaDynamicUpdateSlice", optest.Seq(1, 4), []int32{0, 0}, false},
		"start":        {"XlaDynamicSlice", i32(0, 0, 0), []int32{1, 1}, true},
		"large slice":  {"XlaDynamicSlice", i32(0, 0), []int32{1, 4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, g := range []*tf.Graph{eager.New(), tf.NewGraph()} {
				y := tf.Apply(g, c.op, []tf.Output{ops.Const(g, x, 2, 3), ops.ConstValue(g, c.update), ops.Const(g, c.at, len(c.at))}).Output(0)
				if err := y.Err(); tf.CodeOf(err) != tf.InvalidArgument && (g.IsEager() || c.known) {
					t.Errorf("eager %v: got %v", g.IsEager(), err)
				}
			}
		})
	}
}
