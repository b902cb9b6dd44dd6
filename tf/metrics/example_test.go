package metrics_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A metric is gathered over many batches: the update takes a further one into
// account, the value is the measure of all so far.
func ExampleAccuracy() {
	ctx, g := context.Background(), tf.NewGraph()
	labels := ops.Placeholder(g, tf.Int64, tf.Shape{-1})
	predictions := ops.Placeholder(g, tf.Int64, tf.Shape{-1})
	value, update := metrics.Accuracy(labels, predictions)

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	truth, err := tf.FromSlice([]int64{1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range [][]int64{{1, 2}, {1, 0}} {
		guess, err := tf.FromSlice(p)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := s.Run(ctx, session.Feeds{labels: truth, predictions: guess}, update); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, value)
	fmt.Println(out, err)
	// Output: [float32[]{0.75}] <nil>
}

func ExampleMean() {
	ctx, g := context.Background(), tf.NewGraph()
	loss := ops.Placeholder(g, tf.Float32, tf.Shape{})
	mean, update := metrics.Mean(loss)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range []float32{4, 2, 0} {
		if _, err := s.Run(ctx, session.Feeds{loss: tf.Scalar(l)}, update); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, mean)
	fmt.Println(out, err)
	// Output: [float32[]{2}] <nil>
}

// Metrics may be gathered together: here precision and recall of one batch.
func ExamplePrecision() {
	ctx, g := context.Background(), tf.NewGraph()
	labels := ops.Const(g, []bool{true, true, false, false})
	predictions := ops.Const(g, []bool{true, false, true, false})
	precision, updateP := metrics.Precision(labels, predictions)
	recall, updateR := metrics.Recall(labels, predictions)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Run(ctx, nil, updateP, updateR); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, precision, recall)
	fmt.Println(out, err)
	// Output: [float32[]{0.5} float32[]{0.5}] <nil>
}
