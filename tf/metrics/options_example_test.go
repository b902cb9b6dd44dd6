package metrics_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// The area under the curve of precision over recall. The last element does not count.
func ExampleAUCOptions() {
	ctx, g := context.Background(), tf.NewGraph()
	labels := ops.Const(g, []bool{true, true, false, false})
	predictions := ops.Const(g, []float32{0.9, 0.6, 0.3, 0.8})
	weights := ops.Const(g, []float32{1, 1, 1, 0})
	var curve metrics.Curve = metrics.PR
	value, update := metrics.AUC(labels, predictions, metrics.AUCOptions{
		Options: metrics.Options{Weights: weights}, Curve: curve, Careful: true,
	})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.Group(g, "init", localInitializers(g)...)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Run(ctx, nil, update); err != nil {
		fmt.Println(err)
		return
	}
	auc, err := session.Fetch[float32](ctx, s, nil, value)
	fmt.Printf("%.2f %v\n", auc, err)
	// Output: [1.00] <nil>
}

// localInitializers returns what makes the metrics' variables zero.
func localInitializers(g *tf.Graph) (out []*tf.Operation) {
	for _, v := range tf.Variables(g, tf.LocalVariables) {
		out = append(out, v.Initializer())
	}
	return out
}
