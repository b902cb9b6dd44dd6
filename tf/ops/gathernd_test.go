package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	gather := binary(ops.GatherNd)
	lenient := binary(ops.GatherNd, ops.BadIndicesOpts{Policy: "IGNORE"})
	x := seq(2, 3, 2)
	addSamples(
		sample{Op: "GatherNd", In: []*core.Tensor{x, mat[int32](2, 1, 2, 0, 0)}, F: gather},
		sample{Op: "GatherNd", Name: "elements", In: []*core.Tensor{x, mat[int64](3, 1, 2, 1, 0, 0, 0)}, F: gather},
		sample{Op: "GatherNd", Name: "rows", In: []*core.Tensor{x, mat[int64](1, 1, 1, 0)}, F: gather},
		sample{Op: "GatherNd", Name: "whole", In: []*core.Tensor{x, arr[int32](tf.Shape{2, 0})}, F: gather, Rough: "TensorFlow refuses the gradient"},
		sample{Op: "GatherNd", Name: "one", In: []*core.Tensor{x, vec[int16](1, 2)}, F: gather, Rough: "TensorFlow has no shapes in int16"},
		sample{Op: "GatherNd", Name: "cube", In: []*core.Tensor{x, arr[int32](tf.Shape{2, 1, 1}, 1, 0)}, F: gather},
		sample{Op: "GatherNd", Name: "ignore", In: []*core.Tensor{x, mat[int32](2, 1, 5, 0, 0)}, F: lenient},
		failing("GatherNd", "index", gather, x, mat[int32](2, 1, 2, 0, 3)),
		failing("GatherNd", "negative", gather, x, mat[int32](2, -1, 2)),
		failing("GatherNd", "index in cube", gather, x, arr[int32](tf.Shape{2, 1, 2}, 1, 0, 2, 0)),
		failing("GatherNd", "depth", gather, vec[float32](1), mat[int32](2, 1, 2)),
		failing("GatherNd", "scalar", gather, scalar[float32](1), mat[int32](2, 1, 2)),
		failing("GatherNd", "scalar index", gather, x, scalar[int32](1)),
		failing("GatherNd", "empty", gather, seq(0, 3), mat[int32](1, 0)),
	)
	variable := func(g *tf.Graph, in []tf.Output) []tf.Output {
		h, set := variableOf(g, in[0], "v")
		return []tf.Output{after(g, func() tf.Output { return ops.ResourceGatherNd(h, in[1], in[0].DType()) }, set)}
	}
	const noReads = "variables end gradients"
	addSamples(
		sample{Op: "ResourceGatherNd", In: []*core.Tensor{x, mat[int32](2, 1, 2, 0, 0)}, F: variable, Rough: noReads},
		sample{Op: "ResourceGatherNd", Name: "rows", In: []*core.Tensor{x, mat[int64](1, 1, 0)}, F: variable, Rough: noReads},
		failing("ResourceGatherNd", "index", variable, x, mat[int32](2, 1, 2, 0, 3)),
	)
	addScatterNDSamples()
	addTensorScatterSamples()
	addVariableNDSamples()
}

func addScatterNDSamples() {
	scatter := func(o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.ScatterNd(in[1], in[0], in[2], o...)}
		}
	}
	plain := scatter()
	addSamples(
		sample{Op: "ScatterNd", In: []*core.Tensor{seq(3, 2), mat[int32](1, 3, 0, 3), i32(4, 2)}, F: plain},
		sample{Op: "ScatterNd", Name: "elements", In: []*core.Tensor{seq(3), mat[int64](2, 1, 0, 0, 1, 1, 0), vec[int64](2, 2)}, F: plain},
		sample{Op: "ScatterNd", Name: "matrix", In: []*core.Tensor{seq(2, 1, 3), arr[int32](tf.Shape{2, 1, 1}, 1, 0), i32(2, 3)}, F: plain},
		sample{Op: "ScatterNd", Name: "strings", In: []*core.Tensor{vec("a", "b", "c"), mat[int32](1, 1, 0, 1), i32(3)}, F: plain, Types: onlyOwn},
		sample{Op: "ScatterNd", Name: "bools", In: []*core.Tensor{vec(true, false, true), mat[int32](1, 1, 0, 1), i32(3)}, F: plain, Types: onlyOwn},
		sample{Op: "ScatterNd", Name: "nothing", In: []*core.Tensor{seq(0), arr[int32](tf.Shape{0, 1}), i32(3)}, F: plain},
		sample{Op: "ScatterNd", Name: "ignore", In: []*core.Tensor{seq(2), mat[int32](1, 7, 0), i32(3)}, F: scatter(ops.BadIndicesOpts{Policy: "IGNORE"}), Rough: "TensorFlow's gradient does not ignore"},
		failing("ScatterNd", "index", plain, seq(2), mat[int32](1, 0, 3), i32(3)),
		failing("ScatterNd", "pair", plain, seq(2), mat[int32](2, 0, 1, 2, -1), i32(3, 2)),
		failing("ScatterNd", "depth", plain, seq(2), mat[int32](3, 0, 1, 2, 0, 1, 1), i32(3, 2)),
		failing("ScatterNd", "updates", plain, seq(3), mat[int32](1, 0, 2), i32(3)),
		failing("ScatterNd", "slices", plain, seq(2, 3), mat[int32](1, 0, 2), i32(3, 4)),
		failing("ScatterNd", "scalar", plain, seq(), mat[int32](1, 0), i32(3)),
		failing("ScatterNd", "scalar index", plain, seq(1), scalar[int32](0), i32(3)),
		failing("ScatterNd", "empty", plain, seq(2), mat[int32](1, 0, 1), i32(0)),
		failing("ScatterNd", "shape", plain, seq(2), mat[int32](1, 0, 1), mat[int32](1, 3)),
		failing("ScatterNd", "negative size", plain, seq(2), mat[int32](1, 0, 1), i32(-3)),
	)
}

func addTensorScatterSamples() {
	for _, op := range []string{"ScatterNdNonAliasingAdd", "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"} {
		f := applied(op)
		addSamples(
			sample{Op: op, In: []*core.Tensor{seq(4, 2), mat[int32](1, 3, 0), positive(2, 2)}, F: f},
			sample{Op: op, Name: "elements", In: []*core.Tensor{positive(2, 3), mat[int64](2, 1, 0, 1, 2), seq(2)}, F: f},
			sample{Op: op, Name: "nothing", In: []*core.Tensor{seq(4), arr[int32](tf.Shape{0, 1}), seq(0)}, F: f},
			failing(op, "index", f, seq(2, 3), mat[int32](2, 1, 3), seq(1)),
			failing(op, "updates", f, seq(2, 3), mat[int32](2, 1, 1), seq(2)),
			failing(op, "depth", f, seq(2), mat[int32](2, 1, 1), seq(1)),
			failing(op, "scalar", f, seq(), mat[int32](1, 0), seq(1)),
			failing(op, "empty", f, seq(0), mat[int32](1, 0), seq(1)),
		)
		if op != "TensorScatterUpdate" && op != "TensorScatterMax" && op != "TensorScatterMin" {
			addSamples(sample{Op: op, Name: "twice", In: []*core.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, F: f})
		}
	}
}

func addVariableNDSamples() {
	for _, name := range []string{"Update", "Add", "Sub", "Max", "Min"} {
		op, refOp := "ResourceScatterNd"+name, "ScatterNd"+name
		change := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation {
			return tf.Apply(nil, op, []tf.Output{h, in[0], in[1]})
		})
		addSamples(
			sample{Op: op, In: []*core.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, F: change},
			sample{Op: op, Name: "elements", In: []*core.Tensor{positive(2, 3), mat[int64](2, 1, 0, 1, 2), seq(2)}, F: change},
			failing(op, "index", change, seq(2, 3), mat[int32](2, 1, 3), seq(1)),
			failing(op, "updates", change, seq(2, 3), mat[int32](2, 1, 1), seq(2)),
		)
		ref := onRef(func(ref tf.Output, in []tf.Output) tf.Output {
			return tf.Apply(nil, refOp, []tf.Output{ref, in[0], in[1]}).Output(0)
		})
		addSamples(sample{Op: refOp, In: []*core.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, F: ref, GraphOnly: noRefs})
	}
}
