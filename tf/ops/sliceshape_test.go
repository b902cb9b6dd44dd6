package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestShapesOfSlices: sizes that are computed are known as far as the shapes are that they
// are computed of, as in TensorFlow.
func TestShapesOfSlices(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3}), ops.Placeholder(g, tf.Float32, nil)
	pair, origin := ops.Placeholder(g, tf.Int32, tf.Shape{2}), ops.Const(g, []int32{0, 1})
	apply := func(x, begin, size tf.Output) tf.Output {
		return tf.Apply(g, "Slice", []tf.Output{x, begin, size}).Output(0)
	}
	rows := ops.StridedSlice(ops.Shape(x), []int{0}, []int{1}, []int{1}, ops.StridedSliceOpts{ShrinkAxisMask: 1})
	for want, got := range map[string]tf.Output{
		"[?,3] of a shape":         apply(x, ops.Const(g, []int32{0, 0}), ops.Shape(x)),
		"[?,2] of parts":           apply(y, pair, ops.Stack([]tf.Output{rows, ops.Scalar(g, int32(2))}, 0)),
		"[?,?] of a pair":          apply(y, origin, pair),
		"[?,?] of two":             apply(x, pair, pair),
		"[?,2] of the rest":        apply(x, origin, ops.Const(g, []int32{-1, -1})),
		"[?,?] of a rest from any": apply(x, pair, ops.Const(g, []int32{-1, -1})),
	} {
		if s := got.Shape().String(); s != want[:5] {
			t.Errorf("want %s, got %s", want, s)
		}
	}
	if err := apply(x, ops.Const(g, []int32{0, 0}), ops.Placeholder(g, tf.Int32, tf.Shape{3})).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("sizes for another rank: want InvalidArgument, got %v", err)
	}
}
