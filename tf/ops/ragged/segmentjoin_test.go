package ragged_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "UnsortedSegmentJoin"
	join := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return outputs{ragged.UnsortedSegmentJoin(in[0], in[1], in[2], ragged.SegmentJoinOpts{Separator: ", "})}
	}
	four, words := core.Scalar(int32(4)), vec("this", "is", "", "a", "test")
	matrix := optest.Mat(2, "a", "b", "c", "d", "e", "f")
	addSamples(
		sample{Op: op, In: tensors{words, i32(2, 0, 2, 1, 2), four}, F: join},
		sample{Op: op, Name: "rows", In: tensors{matrix, i64(1, 0, 1), core.Scalar(int64(2))}, F: join},
		sample{Op: op, Name: "empty strings", In: tensors{optest.Mat(2, "", "x", "a", "", "", ""), i64(1, 1, 1), core.Scalar(int64(3))}, F: join},
		sample{Op: op, Name: "elements", In: tensors{matrix, optest.Mat[int32](2, 1, 0, 1, 1, 0, 2), four}, F: join},
		failing(op, "id", join, words, i32(2, 0, 2, 4, 2), four),
		failing(op, "negative id", join, words, i32(2, 0, 2, -1, 2), four),
		failing(op, "count", join, words, i32(2, 0), four),
		failing(op, "number", join, words, i32(2, 0, 2, 1, 2), i32(4)),
		failing(op, "negative", join, words, i32(-2, -1, -2, -1, -2), core.Scalar(int32(-1))),
	)
}

// TestSegmentJoinScalar: TensorFlow 2.21 takes no single id.
func TestSegmentJoinScalar(t *testing.T) {
	g := eager.New()
	_, err := ragged.UnsortedSegmentJoin(ops.Scalar(g, "a"), ops.Scalar(g, int32(1)), ops.Scalar(g, int32(2))).Value()
	if tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}
