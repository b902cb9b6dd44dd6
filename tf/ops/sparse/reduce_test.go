package sparse_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	where, four, shape := at(3, 0, 1, 2, 0, 2, 2, 1, 0, 0, 1, 0, 3), vec[float32](4, 2, -3, -1), i64(3, 3, 4)
	type reducer = func(t sparse.Tensor, axes tf.Output, keep tf.Option) []tf.Output
	dense := func(f func(t sparse.Tensor, axes tf.Output, opts ...tf.Option) tf.Output) reducer {
		return func(t sparse.Tensor, axes tf.Output, keep tf.Option) []tf.Output { return outputs{f(t, axes, keep)} }
	}
	toSparse := func(f func(t sparse.Tensor, axes tf.Output, opts ...tf.Option) sparse.Tensor) reducer {
		return func(t sparse.Tensor, axes tf.Output, keep tf.Option) []tf.Output { return parts(f(t, axes, keep)) }
	}
	for op, f := range map[string]reducer{
		"SparseReduceSum": dense(sparse.SparseReduceSum), "SparseReduceMax": dense(sparse.SparseReduceMax),
		"SparseReduceSumSparse": toSparse(sparse.SparseReduceSumSparse), "SparseReduceMaxSparse": toSparse(sparse.SparseReduceMaxSparse),
	} {
		along := func(keep bool, axes ...int32) func(*tf.Graph, []tf.Output) []tf.Output {
			return func(g *tf.Graph, in []tf.Output) []tf.Output {
				return f(sp(in, 0), ops.Const(g, axes), sparse.ReduceOpts{KeepDims: keep})
			}
		}
		in := tensors{where, four, shape}
		addSamples(valuesFirst(sample{Op: op, In: in, F: along(false, 1)}))
		for _, axes := range [][]int32{{}, {0}, {-1, 0}, {0, 1, 2}, {1, 1}} {
			for _, keep := range []bool{false, true} {
				addSamples(valuesFirst(sample{Op: op, Name: fmt.Sprint(axes, keep), In: in, F: along(keep, axes...), Types: optest.OnlyOwn}))
			}
		}
		last := func(g *tf.Graph, in []tf.Output) []tf.Output {
			return f(sp(in, 0), ops.Scalar(g, int32(-1)), sparse.ReduceOpts{})
		}
		addSamples(
			valuesFirst(sample{Op: op, Name: "scalar axis", In: in, F: last, Types: optest.OnlyOwn}),
			failing(op, "axis", along(false, 3), in...),
			failing(op, "axes", applied(op), append(in, optest.Mat[int32](1, 1))...),
			failing(op, "shape", along(false, 0), where, four, at(1, 1)),
			failing(op, "indices", along(false, 0), i64(1), four, shape),
			failing(op, "values", along(false, 0), where, core.Scalar(float32(1)), shape),
			failing(op, "columns", along(false, 0), where, four, i64(3)),
		)
	}
	outside := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return outputs{sparse.SparseReduceSum(sp(in, 0), ops.Const(g, []int32{0}))}
	}
	addSamples(failing("SparseReduceSum", "bounds", outside, at(2, 0, 9), vec[float32](1), i64(2, 3)))
	softmax := func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{sparse.SparseSoftmax(sp(in, 0))} }
	ordered := at(3, 0, 1, 0, 0, 1, 2, 0, 1, 3, 1, 0, 3)
	addSamples(
		valuesFirst(sample{Op: "SparseSoftmax", In: tensors{ordered, four, shape}, F: softmax}),
		valuesFirst(sample{Op: "SparseSoftmax", Name: "large", In: tensors{at(2, 0, 0, 0, 1), vec[float32](1000, 999), i64(1, 2)}, F: softmax, Types: optest.OnlyOwn}),
		valuesFirst(sample{Op: "SparseSoftmax", Name: "unordered", In: tensors{at(2, 0, 1, 1, 7, 0, 0), vec[float32](1, 2, 3), i64(2, 2)}, F: softmax, Types: optest.OnlyOwn, Rough: "the result is in another order"}),
		failing("SparseSoftmax", "rank", softmax, at(1, 0), vec[float32](1), i64(2)),
		failing("SparseSoftmax", "indices", softmax, i64(0), vec[float32](1), i64(2, 2)),
		failing("SparseSoftmax", "values", softmax, ordered, core.Scalar(float32(1)), i64(2, 2)),
		failing("SparseSoftmax", "number", softmax, at(2, 1, 2), vec[float32](1, 2), i64(2, 2)),
	)
}
