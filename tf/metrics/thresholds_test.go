package metrics_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestCertainPredictions: the last threshold of SensitivityAtSpecificity is above 1, so that
// even a prediction of 1 can be negative; that of SpecificityAtSensitivity is below. The
// numbers are TensorFlow's.
func TestCertainPredictions(t *testing.T) {
	for name, f := range map[string]func(labels, predictions tf.Output) (value, update tf.Output){
		"sensitivity": func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.SensitivityAtSpecificity(l, p, 0.9) },
		"specificity": func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.SpecificityAtSensitivity(l, p, 0.1) },
	} {
		g := tf.NewGraph()
		value, update := f(ops.Const(g, []float32{0, 0, 1, 1}), ops.Const(g, []float32{1, 1, 1, 1}))
		compare(t, name, after(t, g, nil, value, update), []float32{0})
	}
}

// TestNegativeWeights: precision and recall are 0 where what they are a share of is not
// positive. The numbers are TensorFlow's.
func TestNegativeWeights(t *testing.T) {
	for name, f := range map[string]func(labels, predictions tf.Output, o ...metrics.Options) (value, update tf.Output){
		"precision": metrics.Precision, "recall": metrics.Recall,
	} {
		for _, w := range [][]float32{{-1, -1}, {float32(math.NaN()), 1}} {
			g := tf.NewGraph()
			value, update := f(ops.Const(g, []float32{1, 1}), ops.Const(g, []float32{1, 1}), metrics.Options{Weights: ops.Const(g, w)})
			compare(t, name, after(t, g, nil, value, update), []float32{0})
		}
	}
}
