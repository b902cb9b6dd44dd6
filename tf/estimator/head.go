package estimator

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/train"
)

// HeadOptions adjust a [Head].
type HeadOptions struct {
	// WeightColumn is the key of the feature with a weight for each example,
	// [batch] or [batch 1], or of the numbers of a regression, [batch LogitsSize]; "":
	// all weights are 1. Logits of a higher rank have weights [batch time] and so on.
	WeightColumn string
	// NormalizeWeight, if given, is applied to that feature, as the normalizer of a
	// numeric column is.
	NormalizeWeight func(x tf.Output) tf.Output
	// Vocabulary has the names of the classes, which labels are then, strings.
	Vocabulary []string
	// Thresholds within (0, 1), for each of which a binary or multi-label head
	// adds accuracy, precision and recall.
	Thresholds []float32
	// MeanLoss makes the training loss the sum over the batch divided by its
	// size, as TensorFlow 2's heads do. Without it the loss is the sum.
	MeanLoss bool
	// Reduction, if given, makes the training loss of the losses of examples in
	// another way. It is not losses.None, and not given with MeanLoss.
	Reduction *losses.Reduction
	// Loss, if given, returns the losses of examples, [batch 1] or, for a regression,
	// of their numbers, [batch LogitsSize]. Labels are numbers of classes [batch 1], 0
	// and 1 [batch LogitsSize] of a multi-label head, or the numbers of a regression.
	Loss func(labels, logits tf.Output, f feature.Features) tf.Output
	// InverseLink turns the logits of a regression into predictions; nil: they are
	// equal.
	InverseLink func(logits tf.Output) tf.Output
	// ClassMetrics are the classes of a multi-label head which have metrics of their
	// own: probability_mean/NAME, auc/NAME and auc_precision_recall/NAME, where NAME is
	// that of the vocabulary, or class0 and so on.
	ClassMetrics []int
	// Name is appended to the names of metrics, after a slash.
	Name string
}

// A Head makes predictions, loss and metrics of a model's logits, float32 [batch
// LogitsSize]: TensorFlow's heads of canned estimators, with their names. Logits may
// have more dimensions, [batch time LogitsSize] for example: then labels and weights
// have them, too, and each place counts as an example.
type Head struct {
	kind
	o HeadOptions
}

// kind is what differs between heads.
type kind interface {
	logits() int
	check(o *HeadOptions) error
	// predictions returns them by key, and the export outputs.
	predictions(h *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput)
	// numbers returns the labels as numbers, [batch 1], or [batch logits] of a
	// regression and of several labels.
	numbers(h *Head, labels tf.Output) tf.Output
	// loss returns the losses of single examples, [batch 1] or, for regression,
	// [batch dimension].
	loss(h *Head, numbers, logits tf.Output) tf.Output
	metrics(h *Head, e evaluated) map[string]Metric
}

// evaluated is what metrics are computed from.
type evaluated struct {
	labels, losses, weights tf.Output
	predictions             map[string]tf.Output
}

// LogitsSize is how many numbers a model must compute for each example.
func (h *Head) LogitsSize() int { return h.logits() }

func (h *Head) key(name string) string {
	if h.o.Name == "" {
		return name
	}
	return name + "/" + h.o.Name
}

// Spec returns the Spec of a model that computes logits. In the mode Train an
// operation of minimize does the step, which gets the loss: see [Minimizer]. The
// losses of regularizers are added to the loss.
func (h *Head) Spec(c *Call, logits tf.Output, minimize func(loss tf.Output) *tf.Operation) (s *Spec, err error) {
	if err := h.accept(c, logits); err != nil {
		return nil, err
	}
	c.Graph.Scope(cmp.Or(h.o.Name, "head"), func() { s, err = h.spec(c, logits, minimize) })
	return s, err
}

func (h *Head) spec(c *Call, logits tf.Output, minimize func(loss tf.Output) *tf.Operation) (*Spec, error) {
	s := &Spec{Mode: c.Mode}
	s.Predictions, s.ExportOutputs = h.predictions(h, logits)
	if c.Mode == Predict {
		return s, nil
	}
	label, err := h.labelOf(c)
	if err != nil {
		return nil, err
	}
	e, err := h.evaluated(c.Features, label, logits)
	if err != nil {
		return nil, err
	}
	var mean tf.Output
	e.predictions = h.flatPredictions(s.Predictions, logits)
	s.Loss, mean = h.total(e)
	return s, h.finish(c, s, e, mean, minimize)
}

// AnyHead is a [Head] or a [MultiHead].
type AnyHead interface {
	LogitsSize() int
	Spec(c *Call, logits tf.Output, minimize func(loss tf.Output) *tf.Operation) (*Spec, error)
}

// finish adds what only training or only evaluation has.
func (h *Head) finish(c *Call, s *Spec, e evaluated, mean tf.Output, minimize func(loss tf.Output) *tf.Operation) error {
	extra := losses.RegularizationLosses(c.Graph)
	if len(extra) > 0 {
		s.Loss = ops.AddN(append([]tf.Output{s.Loss}, extra...))
	}
	if c.Mode == Eval {
		c.Graph.Scope("metrics", func() {
			s.EvalMetrics = map[string]Metric{}
			for key, m := range h.metrics(h, e) {
				s.EvalMetrics[h.key(key)] = m
			}
			if len(extra) > 0 {
				s.EvalMetrics[h.key("regularization_loss")] = MetricOf(metrics.Mean(ops.AddN(extra)))
			}
		})
		return s.Loss.Err()
	}
	if minimize == nil {
		return tf.Errorf(tf.InvalidArgument, "a head must be told how to train: minimize is nil")
	}
	s.TrainOp = minimize(s.Loss)
	c.Graph.Scope("", func() {
		summary.Scalar(h.key(LossKey), s.Loss)
		if h.o.reduction() == losses.Sum {
			summary.Scalar(h.key("average_loss"), mean)
		}
		if len(extra) > 0 {
			summary.Scalar(h.key("regularization_loss"), ops.AddN(extra))
		}
	})
	return c.Graph.Err()
}

// Minimizer returns the argument of [Head.Spec] that uses an optimizer and counts
// the global step.
func Minimizer(o train.Optimizer) func(loss tf.Output) *tf.Operation {
	return func(loss tf.Output) *tf.Operation {
		return train.Minimize(o, loss, train.Options{GlobalStep: train.GlobalStep(loss.Graph())})
	}
}

func (h *Head) accept(c *Call, logits tf.Output) error {
	if logits.IsZero() {
		return tf.Errorf(tf.InvalidArgument, "a head needs logits, float32 [batch %d], got no tensor", h.logits())
	}
	if err := logits.Err(); err != nil {
		return err
	}
	s := logits.Shape()
	if len(s) < 2 || s[len(s)-1] != h.logits() || logits.DType() != tf.Float32 {
		return tf.Errorf(tf.InvalidArgument, "logits must be float32 [batch %d], or have more dimensions before the last one, got %v", h.logits(), logits)
	}
	return c.Graph.Err()
}

// labelOf returns the one label that heads take.
func (h *Head) labelOf(c *Call) (x tf.Output, err error) {
	if len(c.Labels) == 1 {
		for _, label := range c.Labels {
			x, err = h.dense(label)
		}
	}
	if err == nil && x.IsZero() {
		err = tf.Errorf(tf.InvalidArgument, "You must provide a labels Tensor. Given: %d labels. Suggested troubleshooting steps: Check that your data contain your label feature. Check that your input_fn properly parses and returns labels.", len(c.Labels))
	}
	if err == nil {
		err = x.Err()
	}
	return x, err
}

// dense returns labels as a tensor. Only a multi-label head takes sparse ones.
func (h *Head) dense(label any) (tf.Output, error) {
	switch x := label.(type) {
	case tf.Output:
		return x, nil
	case sparse.Tensor:
		if k, ok := h.kind.(multiLabel); ok {
			return k.indicator(h, x), nil
		}
		return tf.Output{}, tf.Errorf(tf.InvalidArgument, "labels of this head must be dense, got a sparse tensor of %v: a multi-label head takes it", x.Values)
	}
	return tf.Output{}, tf.Errorf(tf.InvalidArgument, "labels must be a tf.Output or a sparse.Tensor, got %T", label)
}

func (o *HeadOptions) reduction() losses.Reduction {
	switch {
	case o.Reduction != nil:
		return *o.Reduction
	case o.MeanLoss:
		return losses.SumOverBatchSize
	}
	return losses.Sum
}

// checkReduction refuses what gives no single number.
func (o *HeadOptions) checkReduction() error {
	if o.Reduction != nil && (o.MeanLoss || *o.Reduction == losses.None) {
		return tf.Errorf(tf.InvalidArgument, "Invalid loss_reduction: %v. A head needs one that gives a number, and either that or MeanLoss", *o.Reduction)
	}
	return nil
}

// total returns the loss to make small, and the mean of the examples.
func (h *Head) total(e evaluated) (loss, mean tf.Output) {
	loss = losses.Weighted(e.losses, losses.Options{Weights: e.weights, Reduction: h.o.reduction()})
	return loss, loss.Div(e.weights.Mul(ops.OnesLike(e.losses)).Sum())
}

// expect refuses labels of another shape than [batch n]. Labels of strings need a
// vocabulary.
func (h *Head) expect(labels tf.Output, n int) tf.Output {
	g, s := labels.Graph(), labels.Shape()
	fail := func(format string, args ...any) tf.Output {
		return tf.Failed(g, "labels", tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
	}
	if s != nil && (len(s) != 2 || s[1] >= 0 && s[1] != n) {
		return fail("Mismatched label shape. Expected labels dimension=%d. Received %v. Suggested Fix: If your classifier expects one-hot encoding label, check your n_classes argument to the estimator and/or the shape of your label.", n, labels)
	}
	isText := labels.DType() == tf.String
	if isText != (len(h.o.Vocabulary) > 0) {
		return fail("labels are strings if, and only if, the head has a vocabulary: %d classes have names, got %v", len(h.o.Vocabulary), labels)
	}
	return labels
}

func defaultOutputs(first ExportOutput, more map[string]ExportOutput, predictions map[string]tf.Output) map[string]ExportOutput {
	out := map[string]ExportOutput{savedmodel.DefaultSignature: first, "predict": PredictOutput{predictions}}
	for key, o := range more {
		out[key] = o
	}
	return out
}
