package estimator

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
)

// RegressionHead returns the head for n numbers of each example, with the squared
// error as loss. Labels are numbers, [batch n] or, for one, [batch].
func RegressionHead(n int, o HeadOptions) (*Head, error) { return newHead(regression{n}, o) }

type regression struct{ n int }

func (k regression) logits() int { return k.n }

func (k regression) check(o *HeadOptions) error {
	if k.n < 1 {
		return tf.Errorf(tf.InvalidArgument, "Invalid label_dimension %d.", k.n)
	}
	if len(o.Vocabulary) > 0 || len(o.Thresholds) > 0 {
		return tf.Errorf(tf.InvalidArgument, "a regression head has neither vocabulary nor thresholds, got %q and %v", o.Vocabulary, o.Thresholds)
	}
	return nil
}

func (k regression) predictions(_ *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput) {
	p := map[string]tf.Output{"predictions": logits}
	r := RegressionOutput{logits}
	return p, defaultOutputs(r, map[string]ExportOutput{"regression": r}, p)
}

func (k regression) loss(h *Head, labels, logits tf.Output) (numbers, losses tf.Output) {
	z := h.expect(labels, k.n).Cast(tf.Float32)
	return z, ops.SquaredDifference(z, logits)
}

func (k regression) metrics(_ *Head, e evaluated) map[string]Metric {
	w := metrics.Options{Weights: e.weights}
	return map[string]Metric{
		"average_loss":    MetricOf(metrics.Mean(e.losses, w)),
		"prediction/mean": MetricOf(metrics.Mean(e.predictions["predictions"], w)),
		"label/mean":      MetricOf(metrics.Mean(e.labels, w)),
	}
}
