package losses_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func ExampleMeanSquaredError() {
	g := eager.New()
	labels, predictions := ops.Const(g, []float32{1, 2, 3}), ops.Const(g, []float32{1, 2, 6})
	v, err := losses.MeanSquaredError(labels, predictions).Value()
	fmt.Println(v, err)
	// Output: float32[]{3} <nil>
}

// Labels are the numbers of classes, one for each example.
func ExampleSparseSoftmaxCrossEntropy() {
	g := eager.New()
	labels := ops.Const(g, []int32{0, 1})
	logits := ops.Const(g, []float32{0, 0, 0, 0}, 2, 2)
	v, err := losses.SparseSoftmaxCrossEntropy(labels, logits).Value() // log 2
	fmt.Println(v, err)
	// Output: float32[]{0.6931472} <nil>
}

// Weights say how much elements count; the reduction, what is returned.
func ExampleOptions() {
	g := eager.New()
	labels, predictions := ops.Const(g, []float32{0, 0, 0}), ops.Const(g, []float32{1, 2, 3})
	weights := ops.Const(g, []float32{1, 0, 1})
	for _, r := range []losses.Reduction{losses.SumByNonzeroWeights, losses.Sum, losses.None} {
		v, err := losses.AbsoluteDifference(labels, predictions, losses.Options{Weights: weights, Reduction: r}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[]{2} <nil>
	// float32[]{4} <nil>
	// float32[3]{1, 0, 3} <nil>
}

// Total is the sum of all losses that the graph has.
func ExampleTotal() {
	g := tf.NewGraph()
	zero := ops.Scalar[float32](g, 0)
	losses.AbsoluteDifference(zero, ops.Scalar[float32](g, 3))
	losses.MeanSquaredError(zero, ops.Scalar[float32](g, 2))
	total := losses.Total(g)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, total)
	fmt.Println(len(losses.Losses(g)), out, err)
	// Output: 2 [float32[]{7}] <nil>
}
