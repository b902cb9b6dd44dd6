package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestAccumulatorsOfAnotherForm: a tensor does not go into an accumulator of slices, nor
// slices into one of tensors. What the accumulators have stays.
func TestAccumulatorsOfAnotherForm(t *testing.T) {
	g := tf.NewGraph()
	step, one := ops.Scalar(g, int64(0)), ops.Scalar(g, int32(1))
	x, at, shape := ops.Const(g, []float32{1, 2}), ops.Const(g, []int64{0, 1}), ops.Const(g, []int64{2})
	dense, sparse := queue.ConditionalAccumulator(g, tf.Float32, tf.Shape{2}), queue.SparseConditionalAccumulator(g, tf.Float32, tf.Shape{2})
	fill := []tf.Fetchable{queue.AccumulatorApplyGradient(dense, step, x), queue.SparseAccumulatorApplyGradient(sparse, step, at, x, shape)}
	_, slices, _ := queue.SparseAccumulatorTakeGradient(dense, one, tf.Float32)
	wrong := []tf.Fetchable{
		queue.AccumulatorApplyGradient(sparse, step, x), queue.SparseAccumulatorApplyGradient(dense, step, at, x, shape),
		queue.AccumulatorTakeGradient(sparse, one, tf.Float32), slices,
	}
	mean := queue.AccumulatorTakeGradient(dense, one, tf.Float32)
	_, rows, _ := queue.SparseAccumulatorTakeGradient(sparse, one, tf.Float32)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Run(ctx, nil, fill...); err != nil {
		t.Fatal(err)
	}
	for i, op := range wrong {
		if _, err := s.Run(ctx, nil, op); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%d: %v, want INVALID_ARGUMENT", i, err)
		}
	}
	if _, err := s.Run(ctx, nil, mean, rows); err != nil {
		t.Errorf("what the accumulators had is gone: %v", err)
	}
}
