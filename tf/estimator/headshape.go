package estimator

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Heads compute losses and metrics of matrices, with a row for each example. What
// belongs to logits of a higher rank is made flat for that: all dimensions but the
// last one become one.

// flat returns x as a matrix, whose rows x has behind all dimensions but the last.
func flat(x tf.Output) tf.Output {
	s := x.Shape()
	if x.Err() != nil || len(s) <= 2 {
		return x
	}
	return x.Reshape(-1, s[len(s)-1])
}

// flatPredictions returns the predictions for flat logits: p, unless logits have a
// higher rank.
func (h *Head) flatPredictions(p map[string]tf.Output, logits tf.Output) map[string]tf.Output {
	if len(logits.Shape()) > 2 {
		p, _ = h.predictions(h, flat(logits))
	}
	return p
}

// outer returns the sizes of all dimensions of logits but the last one, and n.
func outer(logits tf.Output, n int) tf.Output {
	return ops.Concat(0, []tf.Output{ops.Shape(logits).At(":-1"), ops.Const(logits.Graph(), []int32{int32(n)})})
}

// shaped lets x pass if it has the sizes that are wanted. Others fail the step.
func shaped(x, want tf.Output, rule string) tf.Output {
	g := x.Graph()
	fits := ops.Assert(ops.Shape(x).Equal(want).All(), []tf.Output{ops.Scalar(g, rule), want, ops.Shape(x)})
	return ops.Identity(x, tf.After(fits))
}

// evaluated brings labels and weights into the form that losses need.
func (h *Head) evaluated(f feature.Features, label, logits tf.Output) (e evaluated, err error) {
	if label, err = h.flatLabel(label, logits); err != nil {
		return e, err
	}
	if e.weights, err = h.weights(f, logits); err != nil {
		return e, err
	}
	if e.labels = h.numbers(h, label); e.labels.Err() != nil {
		return e, e.labels.Err()
	}
	if h.o.Loss == nil {
		e.losses = h.loss(h, e.labels, flat(logits))
	} else {
		e.losses = flat(h.ownLoss(f, e.labels, logits))
	}
	return e, e.losses.Err()
}

// flatLabel returns labels [batch n], which may lack the last dimension if it is 1.
func (h *Head) flatLabel(label, logits tf.Output) (tf.Output, error) {
	if label.Err() != nil {
		return label, label.Err()
	}
	rank, n := len(logits.Shape()), 1
	if h.perLogit() {
		n = h.logits()
	}
	switch s := label.Shape(); {
	case s == nil:
		label = ranked(label, logits, n)
	case len(s) == rank-1:
		label = fitting(ops.ExpandDims(label, rank-1), logits, n)
	default:
		label = fitting(label, logits, n)
	}
	if rank > 2 && label.Err() == nil {
		label = label.Reshape(-1, n)
	}
	return label, label.Err()
}

// fitting lets labels pass that have the sizes of logits, but n for the last one. Fewer
// would be broadcast: one label would be that of all examples.
func fitting(label, logits tf.Output, n int) tf.Output {
	s, rank := label.Shape(), len(logits.Shape())
	want := append(logits.Shape()[:rank-1:rank-1], n)
	switch {
	case rank == 2 && (len(s) != 2 || s[1] >= 0 && s[1] != n):
		return label // expect refuses it, and says more
	case !s.Compatible(want):
		return tf.Failed(label.Graph(), "labels", tf.Errorf(tf.InvalidArgument, "labels shape must be [D0, D1, ... DN, %d]. Suggested Fix: check your n_classes argument to the estimator and/or the shape of your label. The logits are %v, the labels %v", n, logits, label)).Output(0)
	case s.Known() && want.Known():
		return label
	}
	return shaped(label, outer(logits, n), fmt.Sprintf("labels shape must be [D0, D1, ... DN, %d]: ", n))
}

// ranked gives labels whose rank only the step knows that of logits.
func ranked(label, logits tf.Output, n int) tf.Output {
	want := outer(logits, n)
	if n == 1 {
		label = ops.Reshape(label, want) // which may lack the last dimension
	} else {
		label = shaped(label, want, fmt.Sprintf("labels shape must be [D0, D1, ... DN, %d]: ", n))
	}
	if s := append(tf.Shape{}, logits.Shape()...); label.Err() == nil {
		s[len(s)-1] = n
		label.SetShape(s)
	}
	return label
}

// perLogit reports whether labels have a number for each of the logits.
func (h *Head) perLogit() bool {
	switch h.kind.(type) {
	case regression, multiLabel:
		return true
	}
	return false
}

// ownLoss returns the losses by the program's function, whose shape is checked. The
// labels are flat; the function gets them as the logits are.
func (h *Head) ownLoss(f feature.Features, labels, logits tf.Output) tf.Output {
	g, rank := logits.Graph(), len(logits.Shape())
	want := append(tf.Shape{}, logits.Shape()...)
	if want[rank-1] = 1; h.isRegression() {
		want[rank-1] = h.logits()
	}
	if rank > 2 {
		labels = ops.Reshape(labels, outer(logits, labels.Shape()[1]))
	}
	y := h.o.Loss(labels, logits, f)
	switch {
	case y.IsZero():
		return tf.Failed(g, "losses", tf.Errorf(tf.InvalidArgument, "the Loss of a head must return losses %v, got no tensor: the function at %s", want, placeOf(h.o.Loss))).Output(0)
	case y.Err() != nil:
		return y
	case !y.DType().IsFloat() || !y.Shape().Compatible(want):
		return tf.Failed(g, "losses", tf.Errorf(tf.InvalidArgument, "the Loss of a head must return numbers %v, got %v: the function at %s", want, y, placeOf(h.o.Loss))).Output(0)
	}
	if y = shaped(y.Cast(tf.Float32), outer(logits, want[rank-1]), "the Loss of a head must return numbers of the shape "); y.Shape() == nil {
		y.SetShape(want)
	}
	return y
}

func (h *Head) isRegression() bool {
	_, ok := h.kind.(regression)
	return ok
}

// weights returns those of the examples, [batch 1], or of their numbers, or the
// number 1.
func (h *Head) weights(f feature.Features, logits tf.Output) (tf.Output, error) {
	if h.o.WeightColumn == "" {
		return ops.Scalar(logits.Graph(), float32(1)), nil
	}
	x, ok := f[h.o.WeightColumn].(tf.Output)
	if !ok {
		return x, tf.Errorf(tf.InvalidArgument, "the weight column must be a dense feature: Feature %s is not in features dictionary.", h.o.WeightColumn)
	}
	if h.o.NormalizeWeight != nil && x.Err() == nil {
		if x.DType().IsInteger() {
			x = x.Cast(tf.Float64) // as for numeric columns
		}
		x = h.o.NormalizeWeight(x)
	}
	if x.Err() != nil {
		return x, x.Err()
	}
	s, rank := x.Shape(), len(logits.Shape())
	n, err := h.weightSize(x, rank)
	if err != nil {
		return x, err
	}
	switch {
	case rank == 2:
		x = x.Cast(tf.Float32).Reshape(-1, n)
		if s != nil && len(s) == 0 {
			return x, x.Err() // a weight that the graph knows as a scalar is that of all
		}
	case len(s) == rank-1:
		x = ops.ExpandDims(x, rank-1)
	}
	x = shaped(x, outer(logits, n), "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]: ")
	return x.Cast(tf.Float32).Reshape(-1, n), x.Err()
}

// weightSize returns how many weights an example has: 1, or as many as it has
// numbers.
func (h *Head) weightSize(x tf.Output, rank int) (int, error) {
	s := x.Shape()
	last := 1
	if len(s) > 0 && len(s) == rank && s[rank-1] >= 0 {
		last = s[rank-1]
	}
	switch {
	case last == 1 && (s == nil || len(s) == rank || len(s) == rank-1 || len(s) == 0 && rank == 2):
		return 1, nil
	case last == h.logits() && h.isRegression():
		return last, nil
	case rank == 2:
		return 0, tf.Errorf(tf.InvalidArgument, "weights shape must be [batch] or [batch, 1], or [batch, %d] for a regression of %d numbers: feature %s is %v", h.logits(), h.logits(), h.o.WeightColumn, x)
	}
	return 0, tf.Errorf(tf.InvalidArgument, "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1], or as that of the logits for a regression: the logits have rank %d, feature %s is %v", rank, h.o.WeightColumn, x)
}
