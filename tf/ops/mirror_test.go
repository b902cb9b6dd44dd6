package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for _, mode := range []string{ops.Reflect, ops.Symmetric} {
		pad, unpad := nary("MirrorPad", tf.Attr("mode", mode)), nary("MirrorPadGrad", tf.Attr("mode", mode))
		addSamples(
			sample{Op: "MirrorPad", Name: mode, In: []*core.Tensor{seq(3, 4), mat[int32](2, 2, 1, 0, 3)}, F: pad},
			sample{Op: "MirrorPad", Name: mode + " vector", In: []*core.Tensor{seq(4), mat[int64](2, 3, 2)}, F: pad},
			sample{Op: "MirrorPad", Name: mode + " rank 4", In: []*core.Tensor{seq(2, 2, 3, 2), mat[int32](2, 1, 0, 0, 1, 1, 1, 0, 0)}, F: pad},
			sample{Op: "MirrorPad", Name: mode + " scalar", In: []*core.Tensor{scalar(float32(2)), arr[int32](tf.Shape{0, 2})}, F: pad},
			sample{Op: "MirrorPadGrad", Name: mode, In: []*core.Tensor{seq(6, 7), mat[int32](2, 2, 1, 0, 3)}, F: unpad},
			failing("MirrorPad", mode+" too much", pad, seq(3, 4), mat[int32](2, 4, 1, 0, 3)),
			failing("MirrorPad", mode+" negative", pad, seq(3, 4), mat[int32](2, -1, 1, 0, 3)),
			failing("MirrorPad", mode+" rows", pad, seq(3, 4), mat[int32](2, 1, 1)),
			failing("MirrorPadGrad", mode+" too much", unpad, seq(6, 7), mat[int32](2, 3, 2, 0, 3)),
		)
	}
	addStridedAssignSamples()
	join := func(s ...int) func(*tf.Graph, []tf.Output) []tf.Output {
		return nary("ParallelConcat", tf.Attr("shape", tf.Shape(s)))
	}
	addSamples(
		sample{Op: "ParallelConcat", In: []*core.Tensor{seq(1, 3), positive(1, 3)}, F: join(2, 3), Static: "TensorFlow asks for defined shapes"},
		sample{Op: "_ParallelConcatStart", F: func(g *tf.Graph, _ []tf.Output) []tf.Output {
			start := tf.Apply(g, "_ParallelConcatStart", nil, tf.Name("start"), tf.Attr("shape", tf.Shape{2, 3}), tf.Attr("dtype", tf.Float32)).Output(0)
			return []tf.Output{ops.Shape(start)}
		}},
		sample{Op: "_ParallelConcatUpdate", In: []*core.Tensor{seq(3, 2), positive(1, 2)}, F: nary("_ParallelConcatUpdate", tf.Name("update"), tf.Attr("loc", 1)), Rough: "no gradient"},
		failing("_ParallelConcatUpdate", "shape", nary("_ParallelConcatUpdate", tf.Name("update"), tf.Attr("loc", 1)), seq(3, 2), positive(1, 3)),
	)
	conj := nary("ConjugateTranspose")
	addSamples(
		sample{Op: "ConjugateTranspose", In: []*core.Tensor{seq(2, 3, 4), i32(2, 0, 1)}, F: conj},
		sample{Op: "ConjugateTranspose", Name: "complex", In: []*core.Tensor{convert(seq(2, 3), tf.Complex64), i32(1, 0)}, F: conj, Types: []tf.DType{tf.Complex128}},
		sample{Op: "ConjugateTranspose", Name: "inner", In: []*core.Tensor{arr(tf.Shape{2, 2}, complex64(1i), 2, 3-1i, 4), i32(1, 0)}, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Neg(conj(g, in)[0])}
		}, Types: onlyOwn},
		failing("ConjugateTranspose", "perm", conj, seq(2, 3), i32(0, 0)),
	)
}

func addStridedAssignSamples() {
	update := nary("TensorStridedSliceUpdate")
	masked := nary("TensorStridedSliceUpdate", ops.StridedSliceOpts{EndMask: 1, ShrinkAxisMask: 2})
	addSamples(
		sample{Op: "TensorStridedSliceUpdate", In: []*core.Tensor{seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(2, 2)}, F: update},
		sample{Op: "TensorStridedSliceUpdate", Name: "broadcast", In: []*core.Tensor{seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(2)}, F: update},
		sample{Op: "TensorStridedSliceUpdate", Name: "scalar", In: []*core.Tensor{seq(4, 5), i32(3, 4), i32(0, 0), i32(-1, -2), scalar(float32(7))}, F: update},
		sample{Op: "TensorStridedSliceUpdate", Name: "shrink", In: []*core.Tensor{seq(4, 5), i32(1, 2), i32(0, 0), i32(1, 1), positive(3)}, F: masked},
		sample{Op: "TensorStridedSliceUpdate", Name: "nothing", In: []*core.Tensor{seq(4), i32(1), i32(1), i32(1), seq(0)}, F: update},
		failing("TensorStridedSliceUpdate", "shape", update, seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(3, 2)),
		failing("TensorStridedSliceUpdate", "stride", update, seq(4), i32(0), i32(4), i32(0), positive(3)),
	)
	assign := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation {
		return ops.ResourceStridedSliceAssign(h, in[0], in[1], in[2], in[3])
	})
	onRef := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		v := ops.VariableV2(in[0].Graph(), in[0].DType(), in[0].Shape())
		return []tf.Output{ops.Identity(ops.StridedSliceAssign(ops.Assign(v, in[0]), in[1], in[2], in[3], in[4]))}
	}
	const refs = "reference variables are a matter of graphs"
	addSamples(
		sample{Op: "ResourceStridedSliceAssign", In: []*core.Tensor{seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(2, 2)}, F: assign, Rough: "variables end gradients"},
		failing("ResourceStridedSliceAssign", "shape", assign, seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(3, 2)),
		sample{Op: "StridedSliceAssign", In: []*core.Tensor{seq(4, 5), i32(0, 1), i32(4, 5), i32(2, 3), positive(2, 2)}, F: onRef, GraphOnly: refs, Static: "the variable's shape", Rough: "variables end gradients"},
	)
}
