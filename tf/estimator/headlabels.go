package estimator

import (
	"cmp"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

type multiLabel struct{ n int }

func (k multiLabel) logits() int { return k.n }

func (k multiLabel) check(o *HeadOptions) error {
	for _, i := range o.ClassMetrics {
		if i < 0 || i >= k.n {
			return tf.Errorf(tf.InvalidArgument, "All classes_for_class_based_metrics must be in range [0, %d]. Given: %d", k.n-1, i)
		}
	}
	return checkClasses(k.n, 2, o)
}

func (k multiLabel) predictions(h *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput) {
	p := map[string]tf.Output{"logits": logits, "probabilities": ops.Sigmoid(logits)}
	c := ClassificationOutput{Scores: p["probabilities"], Classes: h.allClasses(logits, k.n)}
	return p, defaultOutputs(c, map[string]ExportOutput{"classification": c}, p)
}

func (k multiLabel) numbers(h *Head, labels tf.Output) tf.Output {
	if labels.Err() == nil && labels.DType() == tf.String {
		return tf.Failed(labels.Graph(), "labels", tf.Errorf(tf.InvalidArgument, "labels of a multi-label head must be numbers 0 and 1, [batch %d], or a sparse tensor: names of classes must be sparse, got %v", k.n, labels)).Output(0)
	}
	plain := *h
	plain.o.Vocabulary = nil // labels are numbers in any case
	return within(plain.expect(labels, k.n).Cast(tf.Float32), 2)
}

func (k multiLabel) loss(_ *Head, z, logits tf.Output) tf.Output {
	return ops.SigmoidCrossEntropyWithLogits(z, logits).Mean(1).Reshape(-1, 1)
}

// indicator returns 1 for each class that a row of labels has, [batch n].
func (k multiLabel) indicator(h *Head, labels sparse.Tensor) tf.Output {
	ids := labels.Values
	if err := cmp.Or(ids.Err(), labels.Indices.Err(), labels.DenseShape.Err()); err != nil {
		return ids
	}
	fail := func(format string, args ...any) tf.Output {
		return tf.Failed(ids.Graph(), "labels", tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
	}
	switch {
	case ids.DType() == tf.String && len(h.o.Vocabulary) == 0:
		return fail("label_vocabulary must be provided when labels are strings: the head has %d classes without names, got %v", k.n, ids)
	case ids.DType() == tf.String:
		ids = h.ids(ids)
	case !ids.DType().IsInteger():
		return fail("Labels dtype should be integer. Instead got %v.", ids)
	}
	labels.Values = within(ids.Cast(tf.Int64), k.n)
	y := sparse.ToIndicator(labels, k.n)
	if rank := labels.DenseShape.Shape(); y.Err() == nil && y.Shape() == nil && (len(rank) != 1 || rank[0] <= 2) {
		y.SetShape(tf.Shape{-1, k.n})
	}
	return y.Cast(tf.Int64)
}

func (k multiLabel) metrics(h *Head, e evaluated) map[string]Metric {
	out := map[string]Metric{"average_loss": MetricOf(metrics.Mean(e.losses, metrics.Options{Weights: e.weights}))}
	p := e.predictions["probabilities"]
	areas(out, "", e.labels, p, e.weights)
	h.atThresholds(out, e, p)
	for _, i := range h.o.ClassMetrics {
		name := fmt.Sprintf("class%d", i)
		if len(h.o.Vocabulary) > 0 {
			name = h.o.Vocabulary[i]
		}
		column := func(x tf.Output) tf.Output { return ops.Slice(x, []int{0, i}, []int{-1, 1}) }
		out["probability_mean/"+name] = MetricOf(metrics.Mean(column(p), metrics.Options{Weights: e.weights}))
		areas(out, "/"+name, column(e.labels), column(p), e.weights)
	}
	return out
}
