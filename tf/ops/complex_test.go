package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	z := func(d tf.DType) *core.Tensor { return convert(seq(2, 3), d) }
	for name, f := range map[string]func(x tf.Output, opts ...tf.Option) tf.Output{"Real": ops.Real, "Imag": ops.Imag, "Angle": ops.Angle, "ComplexAbs": ops.ComplexAbs, "Conj": ops.Conj} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{z(tf.Complex64)}, F: unary(f)},
			sample{Op: name, Name: "axes", In: []*core.Tensor{vec[complex64](1, -1, 1i, -1i, 3+4i)}, F: unary(f)})
	}
	addSamples(
		sample{Op: "Complex", In: []*core.Tensor{seq(2, 3), positive(2, 3)}, F: binary(ops.Complex), Rough: "complex results"},
		sample{Op: "Complex", Name: "broadcast", In: []*core.Tensor{seq(2, 1), positive(3)}, F: binary(ops.Complex), Rough: "complex results"},
		sample{Op: "Complex", Name: "unfit", Fails: true, In: []*core.Tensor{seq(2), seq(3)}, F: binary(ops.Complex)})
	addStitches()
	listDiff := applied("ListDiff")
	addSamples(
		sample{Op: "ListDiff", In: []*core.Tensor{vec[float32](1, 2, 3, 2, 5, 1), vec[float32](1, 7, 3)}, F: listDiff},
		sample{Op: "ListDiff", Name: "nothing", In: []*core.Tensor{vec[int32](1, 2), vec[int32](2, 1)}, F: listDiff},
		sample{Op: "ListDiff", Name: "idx", In: []*core.Tensor{vec[int32](1, 2), vec[int32]()}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			out, idx := ops.ListDiff(in[0], in[1], ops.ListDiffOpts{OutIdx: tf.Int64})
			return []tf.Output{out, idx}
		}},
		sample{Op: "ListDiff", Name: "matrix", Fails: true, In: []*core.Tensor{seq(2, 2), seq(2)}, F: listDiff},
		sample{Op: "ListDiff", Name: "matrix y", Fails: true, In: []*core.Tensor{seq(2), seq(2, 2)}, F: listDiff})
}

func addStitches() {
	type stitch = func(indices, data []tf.Output, opts ...tf.Option) tf.Output
	for name, f := range map[string]stitch{"DynamicStitch": ops.DynamicStitch, "ParallelDynamicStitch": ops.ParallelDynamicStitch} {
		// Data come first: they are what types are tried on.
		two := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[2:], in[:2])} }
		add := func(what string, fails bool, in ...*core.Tensor) {
			addSamples(sample{Op: name, Name: what, In: in, F: two, Fails: fails, Rough: "rows that are overwritten get gradients"})
		}
		add("", false, seq(3, 2), positive(1, 2), vec[int32](3, 0, 1), vec[int32](2))
		add("scalar and matrix", false, seq(2), positive(2, 2, 2), arr(tf.Shape{}, int32(2)), mat[int32](2, 4, 0, 1, 3))
		add("no rows", false, seq(0, 2), seq(0, 2), vec[int32](), vec[int32]())
		add("not a prefix", true, seq(3, 2), seq(1, 2), vec[int32](1, 0), vec[int32](2))
		add("rows differ", true, seq(2, 2), seq(1, 3), vec[int32](1, 0), vec[int32](2))
		add("negative index", true, seq(2, 2), seq(1, 2), vec[int32](1, -1), vec[int32](2))
	}
	addSamples(sample{Op: "DynamicStitch", Name: "overwritten", Rough: "rows that are overwritten get gradients", In: []*core.Tensor{seq(2, 2), positive(1, 2), vec[int32](1, 0), vec[int32](1)},
		F: func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.DynamicStitch(in[2:], in[:2])} }})
}
