package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	gather := binary(ops.GatherNd)
	lenient := binary(ops.GatherNd, ops.BadIndicesOpts{Policy: "IGNORE"})
	x := seq(2, 3, 2)
	addSamples(
		sample{op: "GatherNd", in: []*tf.Tensor{x, mat[int32](2, 1, 2, 0, 0)}, f: gather},
		sample{op: "GatherNd", name: "elements", in: []*tf.Tensor{x, mat[int64](3, 1, 2, 1, 0, 0, 0)}, f: gather},
		sample{op: "GatherNd", name: "rows", in: []*tf.Tensor{x, mat[int64](1, 1, 1, 0)}, f: gather},
		sample{op: "GatherNd", name: "whole", in: []*tf.Tensor{x, arr[int32](tf.Shape{2, 0})}, f: gather, rough: "TensorFlow refuses the gradient"},
		sample{op: "GatherNd", name: "one", in: []*tf.Tensor{x, vec[int16](1, 2)}, f: gather, rough: "TensorFlow has no shapes in int16"},
		sample{op: "GatherNd", name: "cube", in: []*tf.Tensor{x, arr[int32](tf.Shape{2, 1, 1}, 1, 0)}, f: gather},
		sample{op: "GatherNd", name: "ignore", in: []*tf.Tensor{x, mat[int32](2, 1, 5, 0, 0)}, f: lenient},
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
		sample{op: "ResourceGatherNd", in: []*tf.Tensor{x, mat[int32](2, 1, 2, 0, 0)}, f: variable, rough: noReads},
		sample{op: "ResourceGatherNd", name: "rows", in: []*tf.Tensor{x, mat[int64](1, 1, 0)}, f: variable, rough: noReads},
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
		sample{op: "ScatterNd", in: []*tf.Tensor{seq(3, 2), mat[int32](1, 3, 0, 3), i32(4, 2)}, f: plain},
		sample{op: "ScatterNd", name: "elements", in: []*tf.Tensor{seq(3), mat[int64](2, 1, 0, 0, 1, 1, 0), vec[int64](2, 2)}, f: plain},
		sample{op: "ScatterNd", name: "matrix", in: []*tf.Tensor{seq(2, 1, 3), arr[int32](tf.Shape{2, 1, 1}, 1, 0), i32(2, 3)}, f: plain},
		sample{op: "ScatterNd", name: "strings", in: []*tf.Tensor{vec("a", "b", "c"), mat[int32](1, 1, 0, 1), i32(3)}, f: plain, types: onlyOwn},
		sample{op: "ScatterNd", name: "bools", in: []*tf.Tensor{vec(true, false, true), mat[int32](1, 1, 0, 1), i32(3)}, f: plain, types: onlyOwn},
		sample{op: "ScatterNd", name: "nothing", in: []*tf.Tensor{seq(0), arr[int32](tf.Shape{0, 1}), i32(3)}, f: plain},
		sample{op: "ScatterNd", name: "ignore", in: []*tf.Tensor{seq(2), mat[int32](1, 7, 0), i32(3)}, f: scatter(ops.BadIndicesOpts{Policy: "IGNORE"}), rough: "TensorFlow's gradient does not ignore"},
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
			sample{op: op, in: []*tf.Tensor{seq(4, 2), mat[int32](1, 3, 0), positive(2, 2)}, f: f},
			sample{op: op, name: "elements", in: []*tf.Tensor{positive(2, 3), mat[int64](2, 1, 0, 1, 2), seq(2)}, f: f},
			sample{op: op, name: "nothing", in: []*tf.Tensor{seq(4), arr[int32](tf.Shape{0, 1}), seq(0)}, f: f},
			failing(op, "index", f, seq(2, 3), mat[int32](2, 1, 3), seq(1)),
			failing(op, "updates", f, seq(2, 3), mat[int32](2, 1, 1), seq(2)),
			failing(op, "depth", f, seq(2), mat[int32](2, 1, 1), seq(1)),
			failing(op, "scalar", f, seq(), mat[int32](1, 0), seq(1)),
			failing(op, "empty", f, seq(0), mat[int32](1, 0), seq(1)),
		)
		if op != "TensorScatterUpdate" && op != "TensorScatterMax" && op != "TensorScatterMin" {
			addSamples(sample{op: op, name: "twice", in: []*tf.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, f: f})
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
			sample{op: op, in: []*tf.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, f: change},
			sample{op: op, name: "elements", in: []*tf.Tensor{positive(2, 3), mat[int64](2, 1, 0, 1, 2), seq(2)}, f: change},
			failing(op, "index", change, seq(2, 3), mat[int32](2, 1, 3), seq(1)),
			failing(op, "updates", change, seq(2, 3), mat[int32](2, 1, 1), seq(2)),
		)
		ref := onRef(func(ref tf.Output, in []tf.Output) tf.Output {
			return tf.Apply(nil, refOp, []tf.Output{ref, in[0], in[1]}).Output(0)
		})
		addSamples(sample{op: refOp, in: []*tf.Tensor{seq(4, 2), mat[int32](1, 3, 0, 3), positive(3, 2)}, f: ref, graphOnly: noRefs})
	}
}
