package queue_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestShapesOfOtherComponents: a queue with more shapes than components fails the step.
func TestShapesOfOtherComponents(t *testing.T) {
	g := tf.NewGraph()
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Shapes: []tf.Shape{{3}, {3}}})
	two := ops.Scalar(g, int32(2))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, out := range [][]tf.Output{q.Dequeue(), q.DequeueMany(two), q.DequeueUpTo(two)} {
		if len(out) != 1 {
			t.Fatalf("%d: %v", i, out)
		}
		if _, err := s.Run(t.Context(), nil, out[0]); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%d: %v", i, err)
		}
	}
}
