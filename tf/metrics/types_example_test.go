package metrics_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// The next evaluation begins again when the variables of the metrics are initialized.
func ExampleMean_again() {
	ctx, g := context.Background(), tf.NewGraph()
	loss := ops.Placeholder(g, tf.Float32, tf.Shape{})
	mean, update := metrics.Mean(loss)
	again := vars.Initialize(g, "again", tf.Variables(g, metrics.Variables)...)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, epoch := range [][]float32{{4, 2}, {1, 0}} {
		if _, err := s.Run(ctx, nil, again); err != nil {
			fmt.Println(err)
			return
		}
		for _, l := range epoch {
			if _, err := s.Run(ctx, session.Feeds{loss: tf.Scalar(l)}, update); err != nil {
				fmt.Println(err)
				return
			}
		}
		fmt.Println(session.Fetch[float32](ctx, s, nil, mean))
	}
	// Output:
	// [3] <nil>
	// [0.5] <nil>
}

// Metrics at k are float64: here one of two labels is the likeliest class.
func ExamplePrecisionAtK() {
	ctx, g := context.Background(), tf.NewGraph()
	labels := ops.Const(g, []int64{1, 0})
	scores := ops.Const(g, []float32{0.1, 0.7, 0.2, 0.1, 0.2, 0.7}, 2, 3)
	value, update := metrics.PrecisionAtK(labels, scores, 1, metrics.AnyClass)
	start := tf.InitializeAll(g)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, op := range []tf.Fetchable{start, update} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(session.Fetch[float64](ctx, s, nil, value))
	// Output: [0.5] <nil>
}

// The update of a metric of classes is not its value: it is the confusion matrix.
func ExampleMeanIOU() {
	g := tf.NewGraph()
	labels, predictions := ops.Const(g, []int64{0, 1, 1}), ops.Const(g, []int64{0, 1, 0})
	value, update := metrics.MeanIOU(labels, predictions, 2)
	fmt.Println(value.DType(), value.Shape(), update.DType(), update.Shape())
	value, update = metrics.MeanPerClassAccuracy(labels, predictions, 2)
	fmt.Println(value.DType(), value.Shape(), update.DType(), update.Shape())
	// Output:
	// float32 [] float64 [2,2]
	// float32 [] float32 [2]
}
