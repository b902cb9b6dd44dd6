package ragged_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

func init() {
	ranges := func(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			splits, values := ragged.RaggedRange(in[0], in[1], in[2], opts...)
			return outputs{splits, values}
		}
	}
	f, short := ranges(), ranges(ragged.SplitsOpts{Type: tf.Int32})
	one, big := core.Scalar(int64(1)), core.Scalar(int64(1<<62))
	addSamples(
		sample{Op: "RaggedRange", In: tensors{i32(0, 5, 8, 3), i32(3, 5, 0, -4), i32(1, 1, -3, -2)}, F: f},
		sample{Op: "RaggedRange", Name: "scalars", In: tensors{core.Scalar(int32(0)), i32(3, 0, 2), core.Scalar(int32(1))}, F: short, Types: onlyOwn},
		sample{Op: "RaggedRange", Name: "only scalars", In: tensors{core.Scalar(int32(0)), core.Scalar(int32(7)), core.Scalar(int32(2))}, F: f, Types: onlyOwn},
		sample{Op: "RaggedRange", Name: "fractions", In: tensors{vec[float32](0, 1), vec[float32](1, 0), vec[float32](0.25, -0.3)}, F: f, Types: onlyOwn, Rough: "positions do not move"},
		sample{Op: "RaggedRange", Name: "none", In: tensors{i32(), i32(), i32()}, F: f, Types: onlyOwn},
		failing("RaggedRange", "starts", f, seq(1, 1), seq(1), seq(1)),
		failing("RaggedRange", "limits", f, seq(1), seq(1, 1), seq(1)),
		failing("RaggedRange", "deltas", f, seq(1), seq(1), seq(1, 1)),
		failing("RaggedRange", "shapes", f, i32(1, 2), i32(1, 2, 3), i32(1)),
		failing("RaggedRange", "delta", f, i32(1), i32(1), i32(0)),
		failing("RaggedRange", "endless", f, vec[float32](0), vec(float32(math.Inf(1))), vec[float32](1)),
		failing("RaggedRange", "long", short, i64(0), big, one),
		failing("RaggedRange", "long in all", f, i64(0, 0), big, one),
	)
}
