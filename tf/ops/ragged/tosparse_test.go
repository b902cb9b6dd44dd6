package ragged_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

func init() {
	const op = "RaggedTensorToSparse"
	// The values come first: samples are run with other types in place of that of
	// the first input.
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		at, values, shape := ragged.RaggedTensorToSparse(in[1:], in[0])
		return outputs{at, values, shape}
	}
	addSamples(
		sample{Op: op, In: tensors{seq(4), i64(0, 2, 2, 4)}, F: f, Types: []tf.DType{tf.String, tf.Bool, tf.Int8}},
		sample{Op: op, Name: "nested", In: tensors{seq(4), i64(0, 2, 2, 3), i64(0, 1, 1, 4)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "matrices", In: tensors{seq(3, 2, 2), i32(0, 2, 3)}, F: f, Types: onlyOwn},
		sample{Op: op, Name: "none", In: tensors{seq(0), i64(0)}, F: f, Types: onlyOwn},
		failing(op, "empty", f, seq(1), i64()),
		failing(op, "first", f, seq(2), i64(1, 2)),
		failing(op, "order", f, seq(2), i64(0, 2, 1, 2)),
		failing(op, "last", f, seq(2), i64(0, 1)),
		failing(op, "inner", f, seq(2), i64(0, 1), i64(0, 1, 2)),
		failing(op, "scalar", f, core.Scalar(float32(1)), i64(0, 1)),
	)
	const gather = "RaggedGather"
	take := func(rank int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			n := len(in) - 1
			splits, values := ragged.RaggedGather(in[1:n], in[0], in[n], rank)
			return append(splits, values)
		}
	}
	g := take(1)
	addSamples(
		sample{Op: gather, In: tensors{seq(4), i64(0, 2, 2, 4), i64(2, 0, 2)}, F: g, Types: []tf.DType{tf.String, tf.QInt8, tf.Complex64}},
		sample{Op: gather, Name: "nested", In: tensors{seq(5, 2), i32(0, 2, 2, 3), i32(0, 1, 3, 5), i32(2, 0)}, F: g, Types: onlyOwn},
		sample{Op: gather, Name: "matrix", In: tensors{seq(4), i64(0, 2, 2, 4), core.NewTensor(tf.Int64, tf.Shape{2, 3})}, F: take(2), Types: onlyOwn},
		sample{Op: gather, Name: "scalar", In: tensors{seq(4), i64(0, 2, 2, 4), core.Scalar(int64(2))}, F: take(0), Types: onlyOwn},
		failing(gather, "index", g, seq(4), i64(0, 2, 4), i64(0, 2)),
		failing(gather, "values", g, seq(3), i64(0, 2, 4), i64(0, 1)),
		failing(gather, "order", g, seq(4), i64(0, 3, 2), i64(0, 1)),
		failing(gather, "negative", g, seq(4), i64(-1, 3, 4), i64(0, 1)),
		failing(gather, "no inner splits", take(1), seq(4), i64(0), i64(), i64()),
		crashing(gather, "inner", g, seq(4), i64(0, 1, 2), i64(0, 4), i64(1)),
	)
}
