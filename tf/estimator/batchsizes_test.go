package estimator_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// known are the sizes of a batch of 4 and of 1 that a graph may know.
var known = [][2]int{{4, 1}, {4, -1}, {-1, 1}, {-1, -1}}

// batchHeads are heads with logits [batch 1] or [batch 2], whose labels may be 0.
func batchHeads(o estimator.HeadOptions) map[string]func() (*estimator.Head, error) {
	return map[string]func() (*estimator.Head, error){
		"binary":     func() (*estimator.Head, error) { return estimator.BinaryHead(o) },
		"regression": func() (*estimator.Head, error) { return estimator.RegressionHead(1, o) },
		"numbers":    func() (*estimator.Head, error) { return estimator.RegressionHead(2, o) },
		"poisson":    func() (*estimator.Head, error) { return estimator.PoissonHead(1, o) },
		"logistic":   func() (*estimator.Head, error) { return estimator.LogisticHead(o) },
		"labels":     func() (*estimator.Head, error) { return estimator.MultiLabelHead(2, o) },
	}
}

// TestLabelsOfAnotherBatchSize: the label of one example is not taken for that of four.
func TestLabelsOfAnotherBatchSize(t *testing.T) {
	for name, make := range batchHeads(estimator.HeadOptions{}) {
		for _, k := range known {
			err := batchLoss(t, make, k[0], tf.Shape{k[1], 1}, nil, 1, 0)
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "labels shape must be [D0, D1, ... DN, ") {
				t.Errorf("%s, known %v: %v", name, k, err)
			}
		}
	}
}

// TestWeightsOfAnotherBatchSize: the weight of one example is not taken for that of four,
// unless it is a scalar.
func TestWeightsOfAnotherBatchSize(t *testing.T) {
	for name, make := range batchHeads(estimator.HeadOptions{WeightColumn: "w"}) {
		for _, k := range known {
			for _, shape := range []tf.Shape{{k[1]}, {k[1], 1}} {
				err := batchLoss(t, make, k[0], tf.Shape{k[0], 1}, shape, 4, len(shape))
				if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "weights shape must be [D0, D1, ... DN]") {
					t.Errorf("%s, weights %v of %d: %v", name, shape, k[0], err)
				}
			}
		}
		if err := batchLoss(t, make, -1, tf.Shape{-1, 1}, tf.Shape{}, 4, 0); err != nil {
			t.Errorf("%s, a scalar: %v", name, err)
		}
	}
}

// batchLoss computes the loss of a batch of 4, of which the graph knows the size batch, with
// labels of the given number of rows. The last size of their shape becomes that of the
// head. Weights, if there is a shape for them, have one element and as many dimensions.
func batchLoss(t *testing.T, make func() (*estimator.Head, error), batch int, labels, weights tf.Shape, rows, dims int) error {
	t.Helper()
	h, err := make()
	if err != nil {
		t.Fatal(err)
	}
	n := h.LogitsSize()
	labels[1] = n
	g := tf.NewGraph()
	logits, y, w := ops.Placeholder(g, tf.Float32, tf.Shape{batch, n}), ops.Placeholder(g, tf.Float32, labels), ops.Placeholder(g, tf.Float32, weights)
	c := &estimator.Call{Graph: g, Mode: estimator.Eval, Features: feature.Features{"w": w}, Labels: feature.Features{"y": y}}
	s, err := h.Spec(c, logits, nil)
	if err != nil {
		return err
	}
	feeds := session.Feeds{}
	for x, shape := range map[tf.Output]tf.Shape{logits: {4, n}, y: {rows, n}, w: tf.Shape{1, 1}[:dims]} {
		if feeds[x], err = tf.NewTensor(tf.Float32, shape); err != nil {
			t.Fatal(err)
		}
	}
	_, err = initialized(t, g).Run(t.Context(), feeds, s.Loss)
	return err
}

// TestBaselineOfUnequalFeatures: which of them says how many examples there are is no accident.
func TestBaselineOfUnequalFeatures(t *testing.T) {
	in := table(map[string]any{"x": []float32{1, 2, 3}, "z": []float32{1, 2}, "y": []float32{1, 2, 3}}, "y")
	for range 8 {
		e, err := estimator.BaselineRegressor(estimator.Baseline{}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Train(t.Context(), in, estimator.TrainOptions{Steps: 1})
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "all features must have the same number of examples") {
			t.Errorf("got %v", err)
		}
	}
}
