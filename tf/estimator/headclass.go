package estimator

import (
	"fmt"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/train"
)

// BinaryHead returns the head for two classes, of which logits [batch 1] are the
// log odds of the second. Labels are 0 and 1, or what the vocabulary has.
func BinaryHead(o HeadOptions) (*Head, error) { return newHead(binary{}, o) }

// MultiClassHead returns the head for n > 2 classes, of which each example has
// one. Labels are integers below n, or what the vocabulary has.
func MultiClassHead(n int, o HeadOptions) (*Head, error) { return newHead(multiClass{n}, o) }

// MultiLabelHead returns the head for n classes, of which an example may have
// several. Labels are numbers 0 and 1, [batch n], or sparse: each row has the numbers
// of its classes or, with a vocabulary, their names.
func MultiLabelHead(n int, o HeadOptions) (*Head, error) { return newHead(multiLabel{n}, o) }

func newHead(k kind, o HeadOptions) (*Head, error) {
	if err := k.check(&o); err != nil {
		return nil, err
	}
	if err := o.checkReduction(); err != nil {
		return nil, err
	}
	if _, ok := k.(regression); !ok && o.InverseLink != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "only a regression head has an InverseLink")
	}
	if _, ok := k.(multiLabel); !ok && len(o.ClassMetrics) > 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "only a multi-label head has metrics of single classes, got %v", o.ClassMetrics)
	}
	for _, x := range o.Thresholds {
		if !(x > 0 && x < 1) {
			return nil, tf.Errorf(tf.InvalidArgument, "thresholds not in (0, 1): %v.", o.Thresholds)
		}
	}
	return &Head{k, o}, nil
}

func checkClasses(n, least int, o *HeadOptions) error {
	if n < least {
		return tf.Errorf(tf.InvalidArgument, "n_classes must be at least %d: %d.", least, n)
	}
	if v := len(o.Vocabulary); v > 0 && v != n {
		return tf.Errorf(tf.InvalidArgument, "Length of label_vocabulary must be n_classes (%d). Given: %d", n, v)
	}
	return nil
}

// names returns the names of n classes.
func (h *Head) names(n int) []string {
	if len(h.o.Vocabulary) > 0 {
		return h.o.Vocabulary
	}
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// everyRow repeats a row of n values for each row of x.
func everyRow(row, x tf.Output, n int) tf.Output {
	g := x.Graph()
	size := ops.Slice(ops.Shape(x), ops.Const(g, []int32{0}), ops.Const(g, []int32{1}))
	times := ops.Concat(0, []tf.Output{size, ops.Const(g, []int32{1})})
	y := tf.Apply(g, "Tile", []tf.Output{row.Reshape(1, n), times}).Output(0)
	y.SetShape(tf.Shape{-1, n})
	return y
}

func (h *Head) allClasses(x tf.Output, n int) tf.Output {
	return everyRow(ops.Const(x.Graph(), h.names(n)), x, n)
}

func allIDs(x tf.Output, n int) tf.Output {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return everyRow(ops.Const(x.Graph(), ids), x, n)
}

// choose adds the predictions that name classes, given scores of n classes.
func (h *Head) choose(p map[string]tf.Output, scores tf.Output, n int) {
	last := len(scores.Shape()) - 1
	id := ops.ExpandDims(ops.ArgMax(scores, last), last)
	p["class_ids"] = id
	if len(h.o.Vocabulary) > 0 {
		p["classes"] = ops.GatherV2(ops.Const(scores.Graph(), h.o.Vocabulary), id, ops.Scalar(scores.Graph(), int32(0)))
	} else {
		p["classes"] = ops.AsString(id)
	}
	p["all_class_ids"], p["all_classes"] = allIDs(scores, n), h.allClasses(scores, n)
}

// ids turns labels into the numbers of classes, -1 for what is unknown.
func (h *Head) ids(labels tf.Output) tf.Output {
	if labels.Err() != nil || len(h.o.Vocabulary) == 0 {
		return labels
	}
	g := labels.Graph()
	number := make([]int64, len(h.o.Vocabulary))
	for i := range number {
		number[i] = int64(i)
	}
	table := lookup.HashTableV2(g, tf.String, tf.Int64)
	g.AddToCollection(train.TableInitializersCollection, lookup.InitializeTableV2(table, ops.Const(g, h.o.Vocabulary), ops.Const(g, number)))
	return lookup.LookupTableFindV2(table, labels, ops.Scalar(g, int64(-1)))
}

// within lets labels pass that are from 0 to n-1; others fail the step.
func within(labels tf.Output, n int) tf.Output {
	if labels.Err() != nil {
		return labels
	}
	g := labels.Graph()
	low := ops.Assert(labels.GreaterEqual(ops.ZerosLike(labels)).All(), []tf.Output{ops.Scalar(g, "Labels must be >= 0"), labels})
	most, err := tf.ScalarOf(labels.DType(), float64(n-1))
	if err != nil {
		return tf.Failed(g, "labels", err).Output(0)
	}
	high := ops.Assert(labels.LessEqual(ops.ConstValue(g, (*core.Tensor)(most))).All(), []tf.Output{ops.Scalar(g, fmt.Sprintf("Labels must be <= %d - 1", n)), labels})
	return ops.Identity(labels, tf.After(low, high))
}

type binary struct{}

func (binary) logits() int                { return 1 }
func (binary) check(o *HeadOptions) error { return checkClasses(2, 2, o) }

func (binary) predictions(h *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput) {
	two := ops.Concat(len(logits.Shape())-1, []tf.Output{ops.ZerosLike(logits), logits})
	p := map[string]tf.Output{"logits": logits, "logistic": ops.Sigmoid(logits), "probabilities": ops.Softmax(two)}
	h.choose(p, two, 2)
	c := ClassificationOutput{Scores: p["probabilities"], Classes: h.allClasses(logits, 2)}
	return p, defaultOutputs(c, map[string]ExportOutput{"classification": c, "regression": RegressionOutput{p["logistic"]}}, p)
}

func (binary) numbers(h *Head, labels tf.Output) tf.Output {
	return within(h.ids(h.expect(labels, 1)).Cast(tf.Float32), 2)
}

func (binary) loss(_ *Head, z, logits tf.Output) tf.Output {
	return ops.SigmoidCrossEntropyWithLogits(z, logits)
}

func (binary) metrics(h *Head, e evaluated) map[string]Metric {
	ids, logistic := e.predictions["class_ids"], e.predictions["logistic"]
	w := metrics.Options{Weights: e.weights}
	mean := MetricOf(metrics.Mean(e.labels, w))
	out := map[string]Metric{
		"average_loss":      MetricOf(metrics.Mean(e.losses, w)),
		"accuracy":          MetricOf(metrics.Accuracy(e.labels, ids.Cast(tf.Float32), w)),
		"precision":         MetricOf(metrics.Precision(e.labels, ids, w)),
		"recall":            MetricOf(metrics.Recall(e.labels, ids, w)),
		"prediction/mean":   MetricOf(metrics.Mean(logistic, w)),
		"label/mean":        mean,
		"accuracy_baseline": {baseline(mean.Value), baseline(mean.Update)},
	}
	areas(out, "", e.labels, logistic, e.weights)
	h.atThresholds(out, e, logistic)
	return out
}

// baseline is the accuracy of always choosing the more frequent class.
func baseline(mean tf.Output) tf.Output {
	return mean.Maximum(ops.Scalar(mean.Graph(), float32(1)).Sub(mean))
}

// areas adds the areas under two curves, sums of trapezoids as in TensorFlow's
// first heads.
func areas(out map[string]Metric, suffix string, labels, p, weights tf.Output) {
	w := metrics.Options{Weights: weights}
	out["auc"+suffix] = MetricOf(metrics.AUC(labels, p, metrics.AUCOptions{Options: w}))
	out["auc_precision_recall"+suffix] = MetricOf(metrics.AUC(labels, p, metrics.AUCOptions{Options: w, Curve: metrics.PR}))
}

// atThresholds adds what the program has asked for by thresholds.
func (h *Head) atThresholds(out map[string]Metric, e evaluated, p tf.Output) {
	w := metrics.Options{Weights: e.weights}
	for _, x := range h.o.Thresholds {
		one := func(value, update tf.Output) Metric { return Metric{value.Reshape(), update.Reshape()} }
		above := p.GreaterEqual(ops.Scalar(p.Graph(), x)).Cast(tf.Float32)
		name := func(what string) string { return fmt.Sprintf("%s/positive_threshold_%.6g", what, x) }
		out[name("accuracy")] = MetricOf(metrics.Accuracy(e.labels, above, w))
		out[name("precision")] = one(metrics.PrecisionAtThresholds(e.labels, p, []float32{x}, w))
		out[name("recall")] = one(metrics.RecallAtThresholds(e.labels, p, []float32{x}, w))
	}
}

type multiClass struct{ n int }

func (k multiClass) logits() int { return k.n }

func (k multiClass) check(o *HeadOptions) error {
	if len(o.Thresholds) > 0 {
		return tf.Errorf(tf.InvalidArgument, "a multi-class head has no thresholds, got %v", o.Thresholds)
	}
	return checkClasses(k.n, 3, o)
}

func (k multiClass) predictions(h *Head, logits tf.Output) (map[string]tf.Output, map[string]ExportOutput) {
	p := map[string]tf.Output{"logits": logits, "probabilities": ops.Softmax(logits)}
	h.choose(p, logits, k.n)
	c := ClassificationOutput{Scores: p["probabilities"], Classes: h.allClasses(logits, k.n)}
	return p, defaultOutputs(c, map[string]ExportOutput{"classification": c}, p)
}

func (k multiClass) numbers(h *Head, labels tf.Output) tf.Output {
	z := h.ids(h.expect(labels, 1))
	if z.Err() == nil && !z.DType().IsInteger() {
		z = tf.Failed(z.Graph(), "labels", tf.Errorf(tf.InvalidArgument, "Labels dtype should be integer. Instead got %v.", z)).Output(0)
	}
	return within(z.Cast(tf.Int64), k.n)
}

func (k multiClass) loss(_ *Head, z, logits tf.Output) tf.Output {
	return ops.SparseSoftmaxCrossEntropyWithLogits(z.Reshape(-1), logits).Reshape(-1, 1)
}

func (k multiClass) metrics(_ *Head, e evaluated) map[string]Metric {
	w := metrics.Options{Weights: e.weights}
	return map[string]Metric{
		"average_loss": MetricOf(metrics.Mean(e.losses, w)),
		"accuracy":     MetricOf(metrics.Accuracy(e.labels, e.predictions["class_ids"], w)),
	}
}
