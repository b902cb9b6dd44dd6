package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	where := at(3, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 2, 3)
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		at, shape := sparse.SparseReshape(in[0], in[1], in[2])
		return outputs{at, shape}
	}
	reshaped := func(name string, in ...*core.Tensor) sample {
		return sample{Op: "SparseReshape", Name: name, In: in, Types: optest.OnlyOwn, F: f}
	}
	addSamples(
		reshaped("", where, i64(2, 3, 6), i64(9, 4)),
		reshaped("same", where, i64(2, 3, 6), i64(2, 3, 6)),
		reshaped("inferred", where, i64(2, 3, 6), i64(2, -1, 3, 1)),
		reshaped("to vector", where, i64(2, 3, 6), i64(-1)),
		reshaped("empty", none(2), i64(0, 3), i64(3, 0, 5)),
		reshaped("from scalar", core.NewTensor(tf.Int64, tf.Shape{1, 0}), i64(), i64(1, 1)),
		failing("SparseReshape", "indices", f, i64(1), i64(3), i64(3)),
		failing("SparseReshape", "shape", f, where, at(1, 1), i64(3)),
		failing("SparseReshape", "target", f, where, i64(2, 3, 6), at(1, 1)),
		failing("SparseReshape", "rank", f, where, i64(2, 3), i64(6)),
		failing("SparseReshape", "two unknown", f, where, i64(2, 3, 6), i64(-1, 2, -1)),
		failing("SparseReshape", "negative", f, where, i64(2, 3, 6), i64(-2, 2)),
		failing("SparseReshape", "multiple", f, where, i64(2, 3, 6), i64(-1, 5)),
		failing("SparseReshape", "size", f, where, i64(2, 3, 6), i64(6, 5)),
		failing("SparseReshape", "zero", f, none(2), i64(0, 3), i64(-1, 0)),
		failing("SparseReshape", "empty", f, at(2, 0, 0), i64(0, 3), i64(3, 0)),
		failing("SparseReshape", "huge", f, none(2), i64(1<<40, 1<<40), i64(3)),
	)
}
