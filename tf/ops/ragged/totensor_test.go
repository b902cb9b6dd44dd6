package ragged_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "RaggedTensorToTensor"
	// Inputs are values, default and shape, then partitions.
	by := func(kinds ...string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return outputs{ragged.RaggedTensorToTensor(in[2], in[0], in[1], in[3:], kinds)}
		}
	}
	splits, twice := by(ragged.RowSplits), by(ragged.RowSplits, ragged.RowSplits)
	ids := by(ragged.FirstDimSize, ragged.ValueRowIDs)
	zero, free := core.Scalar(float32(-1)), i64(-1, -1)
	four := core.Scalar(int64(4))
	addSamples(
		sample{Op: op, In: tensors{seq(5), zero, free, i64(0, 2, 2, 5)}, F: splits},
		sample{Op: op, Name: "text", In: tensors{vec("a", "b", "c"), core.Scalar("none"), i32(-1, 4), i64(0, 2, 2, 3)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "cut", In: tensors{seq(5), zero, i64(2, 1), i64(0, 2, 2, 5)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "wider", In: tensors{seq(5), zero, i32(4, 4), i32(0, 2, 2, 5)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "any shape", In: tensors{seq(5), zero, core.Scalar(int32(-1)), i64(0, 2, 2, 5)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "rows", In: tensors{seq(3, 2), vec[float32](7, 8), i64(-1, -1, 2), i64(0, 1, 1, 3)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "repeated default", In: tensors{seq(3, 2, 2), seq(1, 2), i64(-1, 3, -1, -1), i64(0, 1, 1, 3)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "nested", In: tensors{seq(5), zero, i64(-1, -1, -1), i64(0, 2, 2, 3), i64(0, 2, 3, 5)}, F: twice, Types: onlyOwn},
		sample{Op: op, Name: "nested cut", In: tensors{seq(5), zero, i64(-1, 1, 1), i64(0, 2, 2, 3), i64(0, 2, 3, 5)}, F: twice, Types: onlyOwn},
		sample{Op: op, Name: "ids", In: tensors{seq(5), zero, free, four, i64(0, 0, 2, 3, 3)}, F: ids, Types: onlyOwn},
		sample{Op: op, Name: "ids cut", In: tensors{seq(5), zero, i64(3, 1), four, i64(0, 0, 2, 3, 3)}, F: ids, Types: onlyOwn},
		sample{Op: op, Name: "ids and splits", In: tensors{seq(4), zero, i64(-1, -1, -1), i64(0, 2, 3), i64(1, 1, 2, 2)}, F: by(ragged.RowSplits, ragged.ValueRowIDs), Types: onlyOwn},
		sample{Op: op, Name: "nothing", In: tensors{seq(0), zero, free, i64(0, 0, 0)}, F: splits, Types: onlyOwn},
		sample{Op: op, Name: "few values, cut", In: tensors{seq(2), zero, i64(-1, 2), i64(0, 5)}, F: splits, Types: onlyOwn},
		failing(op, "matrix", splits, seq(2), zero, optest.Arr[int64](tf.Shape{1, 2}, -1, -1), i64(0, 2)),
		failing(op, "rank", splits, seq(5), zero, i64(-1, -1, -1), i64(0, 2, 5)),
		failing(op, "inner size", splits, seq(5, 2), zero, i64(-1, -1, 3), i64(0, 2, 5)),
		failing(op, "default's rank", splits, seq(5), vec[float32](1), free, i64(0, 2, 5)),
		failing(op, "default's size", splits, seq(5, 3), vec[float32](1, 2), i64(-1, -1, 3), i64(0, 2, 5)),
		failing(op, "no splits", splits, seq(5), zero, free, i64()),
		failing(op, "scalar shape", splits, seq(5), zero, four, i64(0, 2, 5)),
		failing(op, "size", splits, seq(5), zero, i64(-2, 3), i64(0, 2, 5)),
		failing(op, "first id", ids, seq(2), zero, free, four, i64(4, 4)),
		failing(op, "id", ids, seq(2), zero, free, four, i64(0, 4)),
		failing(op, "inner splits", twice, seq(2), zero, i64(-1, -1, -1), i64(0, 1), i64(0, 1, 2)),
		crashing(op, "order", splits, seq(5), zero, free, i64(0, 5, 2, 5)),
		crashing(op, "few values", splits, seq(2), zero, free, i64(0, 5)),
		crashing(op, "negative id", ids, seq(2), zero, free, four, i64(-1, 0)),
	)
}
