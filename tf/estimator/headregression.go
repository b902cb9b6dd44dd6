package estimator

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
)

// RegressionHead returns the head for n numbers of each example, with the squared
// error as loss. Labels are numbers, [batch n] or, for one, [batch].
func RegressionHead(n int, o HeadOptions) (*Head, error) { return newHead(regression{n: n}, o) }

// PoissonHead returns the head for n counts of each example, whose logarithms the
// logits are. The loss is that of Poisson's distribution, constants included.
func PoissonHead(n int, o HeadOptions) (*Head, error) {
	loss := func(_ *Head, z, logits tf.Output) tf.Output { return ops.LogPoissonLoss(z, logits, true) }
	return newLinked(regression{n: n, lossOf: loss}, ops.Exp, o)
}

// LogisticHead returns the head for a share in [0, 1] of each example, whose log odds
// the logits are. The loss is the cross entropy. Unlike those of [BinaryHead],
// predictions and metrics have no classes.
func LogisticHead(o HeadOptions) (*Head, error) {
	loss := func(_ *Head, z, logits tf.Output) tf.Output {
		return ops.SigmoidCrossEntropyWithLogits(within(z, 2), logits)
	}
	return newLinked(regression{n: 1, lossOf: loss}, ops.Sigmoid, o)
}

// newLinked is newHead of a head that has its own link and loss.
func newLinked(k regression, link func(x tf.Output, opts ...tf.Option) tf.Output, o HeadOptions) (*Head, error) {
	if o.InverseLink != nil || o.Loss != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "this head has a loss and an inverse link of its own: a RegressionHead takes others")
	}
	o.InverseLink = func(logits tf.Output) tf.Output { return link(logits) }
	return newHead(k, o)
}

type regression struct {
	n int
	// lossOf is the loss; nil: the squared error.
	lossOf func(h *Head, z, logits tf.Output) tf.Output
}

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

func (k regression) predictions(h *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput) {
	p := map[string]tf.Output{"predictions": logits}
	if h.o.InverseLink != nil {
		p["predictions"], p["logits"] = h.o.InverseLink(logits), logits
	}
	r := RegressionOutput{p["predictions"]}
	return p, defaultOutputs(r, map[string]ExportOutput{"regression": r}, p)
}

func (k regression) numbers(h *Head, labels tf.Output) tf.Output {
	return h.expect(labels, k.n).Cast(tf.Float32)
}

func (k regression) loss(h *Head, z, logits tf.Output) tf.Output {
	if k.lossOf != nil {
		return k.lossOf(h, z, logits)
	}
	return ops.SquaredDifference(z, logits)
}

func (k regression) metrics(_ *Head, e evaluated) map[string]Metric {
	w := metrics.Options{Weights: e.weights}
	return map[string]Metric{
		"average_loss":    MetricOf(metrics.Mean(e.losses, w)),
		"prediction/mean": MetricOf(metrics.Mean(e.predictions["predictions"], w)),
		"label/mean":      MetricOf(metrics.Mean(e.labels, w)),
	}
}
