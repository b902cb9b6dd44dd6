package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	in := tensors{at(2, 0, 1, 0, 3, 3, 0), vec[float32](1, 2, 3), i64(4, 5)}
	mapped := func(op string, f func(g *tf.Graph, t sparse.Tensor, shared tf.Option) []tf.Output) {
		addSamples(sample{Op: op, In: in, Types: optest.OnlyOwn, Rough: "the map ends the path", F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return f(g, sp(in, 0), sparse.MapOpts{SharedName: op})
		}})
	}
	mapped("AddSparseToTensorsMap", func(g *tf.Graph, t sparse.Tensor, shared tf.Option) []tf.Output {
		handle := sparse.AddSparseToTensorsMap(t, shared)
		handles := ops.Reshape(handle, ops.Const(g, []int32{1}))
		return parts(sparse.TakeManySparseFromTensorsMap(handles, t.Values.DType(), shared))
	})
	mapped("AddManySparseToTensorsMap", func(g *tf.Graph, t sparse.Tensor, shared tf.Option) []tf.Output {
		return parts(sparse.TakeManySparseFromTensorsMap(sparse.AddManySparseToTensorsMap(t, shared), t.Values.DType(), shared))
	})
	mapped("TakeManySparseFromTensorsMap", func(g *tf.Graph, t sparse.Tensor, shared tf.Option) []tf.Output {
		handles := ops.Gather(sparse.AddManySparseToTensorsMap(t, shared), ops.Const(g, []int32{3, 0}), 0)
		return parts(sparse.TakeManySparseFromTensorsMap(handles, t.Values.DType(), shared))
	})
	add := func(op string) func(*tf.Graph, []tf.Output) []tf.Output { return applied(op) }
	take := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(sparse.TakeManySparseFromTensorsMap(in[0], tf.Float32, sparse.MapOpts{SharedName: "nothing"}))
	}
	many := "AddManySparseToTensorsMap"
	ones := vec[float32](1)
	addSamples(
		failing("AddSparseToTensorsMap", "indices", add("AddSparseToTensorsMap"), i64(1), ones, i64(1)),
		failing("AddSparseToTensorsMap", "values", add("AddSparseToTensorsMap"), at(1, 1), core.Scalar(float32(1)), i64(1)),
		failing("AddSparseToTensorsMap", "shape", add("AddSparseToTensorsMap"), at(1, 1), ones, at(1, 1)),
		failing("AddSparseToTensorsMap", "number", add("AddSparseToTensorsMap"), at(1, 1, 2), ones, i64(1)),
		failing("AddSparseToTensorsMap", "negative", add("AddSparseToTensorsMap"), at(1, 1), ones, i64(-1)),
		failing(many, "number", add(many), at(2, 1, 2, 3, 4), ones, i64(9, 9)),
		failing(many, "rank", add(many), at(2, 1, 2), ones, i64(9, 9, 9)),
		failing(many, "vector", add(many), at(1, 1), ones, i64(9)),
		failing(many, "bounds", add(many), at(2, 1, 2), ones, i64(1, 9)),
		unordered(many, add(many), at(2, 1, 2, 0, 1), vec[float32](1, 2), i64(2, 9)),
		failing("TakeManySparseFromTensorsMap", "handle", take, i64(77)),
		failing("TakeManySparseFromTensorsMap", "shape", take, at(1, 0)),
		failing("TakeManySparseFromTensorsMap", "none", take, i64()),
	)
	addSamples(failing("TakeManySparseFromTensorsMap", "type", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		shared := sparse.MapOpts{SharedName: "type"}
		return parts(sparse.TakeManySparseFromTensorsMap(sparse.AddManySparseToTensorsMap(sp(in, 0), shared), tf.Int32, shared))
	}, in...))
}
