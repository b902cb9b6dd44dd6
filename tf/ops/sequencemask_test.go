package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSequenceMaskTo compares masks up to a scalar of the graph with those up to a
// number, for all types that lengths have.
func TestSequenceMaskTo(t *testing.T) {
	g := tf.NewGraph()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, d := range []tf.DType{tf.Int32, tf.Int64, tf.Float32} {
		for _, n := range []int{0, 1, 3, 7} {
			lengths := ops.Const(g, []int32{0, 1, 3, 5, 2, -1}, 2, 3).Cast(d)
			most := ops.PlaceholderWithDefault(ops.Scalar(g, int32(n)), nil)
			got, err := s.Run(t.Context(), nil, ops.SequenceMaskTo(lengths, most, tf.Float32), ops.SequenceMask(lengths, n, tf.Float32))
			if err != nil || !got[0].Shape().Equal(tf.Shape{2, 3, n}) || !slices.Equal(tf.Data[float32](got[0]), tf.Data[float32](got[1])) {
				t.Errorf("%v, %d: got %v, %v", d, n, got, err)
			}
		}
	}
	bad := ops.SequenceMaskTo(ops.Const(tf.NewGraph(), []int32{1}), ops.Const(g, []int32{1, 2}), tf.Bool)
	if err := bad.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "maxlen must be scalar") {
		t.Errorf("got %v", err)
	}
}
