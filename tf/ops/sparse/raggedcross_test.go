package sparse_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "RaggedCross"
	// Inputs are a ragged, a sparse and a dense matrix.
	cross := func(order string, hash *sparse.CrossHash, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			m := []sparse.RaggedMatrix{{Values: in[0], Splits: in[1]}}
			r := sparse.RaggedCross(g, order, m, []sparse.Tensor{sp(in, 2)}, in[5:], hash, opts...)
			return outputs{r.Values, r.Splits}
		}
	}
	words, splits := vec("a", "b", "c"), i64(0, 2, 2, 3)
	where, numbers, shape := at(2, 0, 0, 0, 1, 1, 0, 2, 0), vec[int64](11, -5, 1<<40+3, 7), i64(3, 2)
	dense := optest.Mat(2, "x", "y", "z", "w", "v", "u")
	all := tensors{words, splits, where, numbers, shape, dense}
	crossed := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output) sample {
		return sample{Op: op, Name: name, In: all, F: f, Types: optest.OnlyOwn}
	}
	f := cross("RSD", nil)
	addSamples(
		crossed("", f),
		sample{Op: op, Name: "order", In: tensors{words, i32(0, 2, 2, 3), where, numbers, shape, dense}, F: cross("DRS", nil, tf.Attr("out_row_splits_type", tf.Int32)), Types: optest.OnlyOwn},
		crossed("hashed", cross("SRD", &sparse.CrossHash{Key: 5})),
		crossed("buckets", cross("RSD", &sparse.CrossHash{Key: 5, Buckets: 17})),
		failing(op, "order", cross("RSX", nil), all...),
		failing(op, "ragged twice", cross("RSR", nil), all...),
		failing(op, "sparse twice", cross("RSS", nil), all...),
		failing(op, "dense twice", cross("RDD", nil), all...),
		failing(op, "splits", f, words, i64(0, 2, 2, 4), where, numbers, shape, dense),
		failing(op, "ragged", f, at(1, 1), i64(0, 1), where, numbers, shape, dense),
		failing(op, "sparse", f, words, splits, where, where, shape, dense),
		failing(op, "sparse rank", f, words, splits, at(1, 0), vec[int64](1), i64(3), dense),
		failing(op, "dense", f, words, splits, where, numbers, shape, words),
		failing(op, "rows", f, words, splits, where, numbers, i64(4, 2), dense),
	)
}

// TestRaggedCrossOutOfOrder has results of TensorFlow: what is out of order belongs to the row before it,
// what comes after a row that is out of bounds counts for nothing.
func TestRaggedCrossOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		rows   []int64
		splits []int64
	}{
		{[]int64{1, 0}, []int64{0, 0, 2}},
		{[]int64{-1, 0}, []int64{0, 2, 2}},
		{[]int64{5, 0}, []int64{0, 0, 0}},
		{[]int64{0, 5, 1}, []int64{0, 1, 1}},
		{[]int64{1, 1, 0, 0, 1}, []int64{0, 0, 5}},
	} {
		g, n := eager.New(), len(c.rows)
		indices := make([]int64, 2*n)
		for i, row := range c.rows {
			indices[2*i] = row
		}
		x := sparse.Tensor{Indices: ops.Const(g, indices, n, 2), Values: ops.Const(g, make([]int64, n)), DenseShape: ops.Const(g, []int64{2, 1})}
		r := sparse.RaggedCross(g, "S", nil, []sparse.Tensor{x}, nil, nil)
		if got, err := r.Splits.Value(); err != nil || !slices.Equal(tf.Data[int64](got), c.splits) {
			t.Errorf("rows %d: got splits %v, %v, want %d", c.rows, got, err, c.splits)
		}
	}
}

// Batches of a negative size, which crash TensorFlow, are refused whatever has been crossed before.
func TestCrossRefusesNegativeBatches(t *testing.T) {
	for _, rows := range []int64{2, -1, -1} {
		g := eager.New()
		x := sparse.Tensor{Indices: ops.Const(g, []int64{0, 0}, 1, 2), Values: ops.Const(g, []int64{1}), DenseShape: ops.Const(g, []int64{rows, 1})}
		_, err := sparse.SparseCrossV2(g, []sparse.Tensor{x}, nil, ops.Scalar(g, "&")).Values.Value()
		if refused := tf.CodeOf(err) == tf.InvalidArgument; refused != (rows < 0) {
			t.Errorf("%d rows: got error %v", rows, err)
		}
	}
}
