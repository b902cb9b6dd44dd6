package metrics

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// AnyClass as the class of a metric at k counts all classes.
const AnyClass = -1

// A ranking is what is known of each example: the classes that are its labels, and
// those that are predicted, the likeliest first. All are int64, of shapes [... labels]
// and [... k].
type ranking struct{ labels, predicted tf.Output }

// newRanking checks the shapes. labels of the rank of the examples have one label
// each.
func newRanking(labels, predicted tf.Output) (r ranking, err error) {
	l, p := labels.Cast(tf.Int64), predicted.Cast(tf.Int64)
	if len(l.Shape()) == len(p.Shape())-1 && l.Shape() != nil {
		l = l.ExpandDims(-1)
	}
	if l.Shape() == nil || len(l.Shape()) != len(p.Shape()) || len(l.Shape()) == 0 {
		return r, tf.Errorf(tf.InvalidArgument, "labels must have the rank of the predictions or one less, got %v and %v", labels.Shape(), predicted.Shape())
	}
	n := len(l.Shape()) - 1
	if !l.Shape()[:n].Compatible(p.Shape()[:n]) {
		return r, tf.Errorf(tf.InvalidArgument, "labels must be of the examples of the predictions, got %v and %v", labels.Shape(), predicted.Shape())
	}
	if !l.Shape()[:n].Known() || !p.Shape()[:n].Known() {
		l = ofExamples(l, p)
	}
	return ranking{l, p}, nil
}

// ofExamples returns labels, which fail the step if they are of other examples than the
// predictions: a single one would stand for all.
func ofExamples(labels, predicted tf.Output) tf.Output {
	one := ops.Scalar(labels.Graph(), int32(1))
	same := ops.Equal(front(labels, one), front(predicted, one)).All()
	rule := ops.Scalar(labels.Graph(), "labels must be of the examples of the predictions")
	return ops.Identity(labels, tf.After(ops.Assert(same, []tf.Output{rule, ops.Shape(labels), ops.Shape(predicted)})))
}

// relevant tells which of the predictions are labels: bool [... k].
func (r ranking) relevant() tf.Output {
	return ops.Any(r.predicted.ExpandDims(-1).Equal(r.labels.ExpandDims(-2)), []int{-1})
}

// missed tells which of the labels are not predicted; a label that is there twice
// counts once.
func (r ranking) missed() tf.Output {
	found := ops.Any(r.labels.ExpandDims(-1).Equal(r.predicted.ExpandDims(-2)), []int{-1})
	return found.Or(again(r.labels)).Not()
}

// again tells which of some classes come before in the same example.
func again(classes tf.Output) tf.Output {
	g := classes.Graph()
	same := classes.ExpandDims(-1).Equal(classes.ExpandDims(-2)).Cast(tf.Float32)
	upTo := ops.MatrixBandPart(same, ops.Scalar[int64](g, -1), ops.Scalar[int64](g, 0))
	return ops.Sum(upTo, []int{-1}).Greater(1)
}

// cells returns how many true positives, false positives and false negatives each
// example has: float64 [...]. A class that is predicted twice counts once.
func (r ranking) cells(class int) (tp, fp, fn tf.Output) {
	sum := func(x tf.Output) tf.Output { return ops.Sum(x.Cast(tf.Float64), []int{-1}) }
	if class < 0 {
		hit, once := r.relevant(), again(r.predicted).Not()
		return sum(hit.And(once)), sum(hit.Not().And(once)), sum(r.missed())
	}
	isLabel := ops.Any(r.labels.Equal(class), []int{-1})
	isPredicted := ops.Any(r.predicted.Equal(class), []int{-1})
	of := func(a, b tf.Output) tf.Output { return a.And(b).Cast(tf.Float64) }
	return of(isLabel, isPredicted), of(isLabel.Not(), isPredicted), of(isLabel, isPredicted.Not())
}

// best returns the k likeliest classes, int64. Labels must be of a graph.
func best(predictions tf.Output, k int) tf.Output {
	_, at := ops.TopK(predictions, k)
	return at.Cast(tf.Int64)
}

// rate gathers true positives and what another cell counts: their share, which is not a
// number if there are none of either, as in TensorFlow.
func rate(name, other string, labels, predicted tf.Output, o []Options, pick func(r ranking) (tp, rest tf.Output)) (value, update tf.Output) {
	opt := optionsOf(o, name)
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		r, err := newRanking(labels, predicted)
		if err != nil {
			y := tf.Failed(g, name, err).Output(0)
			return y, y
		}
		tp, rest := pick(r)
		if w := opt.Weights; !w.IsZero() {
			w = spreadAs(tf.Float64, fitted(w, tp), tp)
			tp, rest = tp.Mul(w), rest.Mul(w)
		}
		hits, others := variable(g, "true_positive_at_k", tf.Float64, tf.Shape{}), variable(g, other, tf.Float64, tf.Shape{})
		h, n := grown(hits, tp.Sum()), grown(others, rest.Sum())
		return hits.Read().Div(hits.Read().Add(others.Read())), h.Div(h.Add(n))
	}, labels, predicted, opt.Weights)
}

// PrecisionAtK is the share of labels among the k likeliest predictions. labels has
// the classes of each example, [... labels] or [...]; predictions are the scores of all
// classes, [... classes]. With a class other than AnyClass only examples count for
// which that class is among the k. Results are float64 scalars, as with all metrics at k.
// labels of another rank than that of the predictions, or one less, are refused with
// INVALID_ARGUMENT.
func PrecisionAtK(labels, predictions tf.Output, k, class int, o ...Options) (value, update tf.Output) {
	return PrecisionAtTopK(labels, best(predictions, k), class, named(o, "precision_at_k")...)
}

// PrecisionAtTopK is PrecisionAtK for predictions that are the likeliest classes
// themselves, [... k].
func PrecisionAtTopK(labels, classes tf.Output, class int, o ...Options) (value, update tf.Output) {
	return rate("precision_at_top_k", "false_positive_at_k", labels, classes, o, func(r ranking) (tp, rest tf.Output) {
		tp, rest, _ = r.cells(class)
		return tp, rest
	})
}

// RecallAtK is the share of the labels that are among the k likeliest predictions: see
// PrecisionAtK. With a class other than AnyClass only examples with that label count.
func RecallAtK(labels, predictions tf.Output, k, class int, o ...Options) (value, update tf.Output) {
	return RecallAtTopK(labels, best(predictions, k), class, named(o, "recall_at_k")...)
}

// RecallAtTopK is RecallAtK for predictions that are the likeliest classes themselves,
// [... k].
func RecallAtTopK(labels, classes tf.Output, class int, o ...Options) (value, update tf.Output) {
	return rate("recall_at_top_k", "false_negative_at_k", labels, classes, o, func(r ranking) (tp, rest tf.Output) {
		tp, _, rest = r.cells(class)
		return tp, rest
	})
}

// named returns options whose scope is called name unless they say otherwise.
func named(o []Options, name string) []Options {
	return []Options{optionsOf(o, name)}
}

// AveragePrecisionAtK is the mean over examples of their average precision: that of
// the precisions at each of the k likeliest predictions which is a label. See
// PrecisionAtK.
func AveragePrecisionAtK(labels, predictions tf.Output, k int, o ...Options) (value, update tf.Output) {
	opt := optionsOf(o, "average_precision_at_k")
	classes := best(predictions, k)
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		r, err := newRanking(labels, classes)
		if k < 1 {
			err = tf.Errorf(tf.InvalidArgument, "Invalid k=%d. `k` should be >= 1.", k)
		}
		if err != nil {
			y := tf.Failed(g, "average_precision_at_k", err).Output(0)
			return y, y
		}
		average := r.average(k, predictions)
		n := ops.OnesLike(average)
		if w := opt.Weights; !w.IsZero() {
			w = spreadAs(tf.Float64, fitted(w, average), average)
			average, n = average.Mul(w), n.Mul(w)
		}
		total, count := variable(g, "total", tf.Float64, tf.Shape{}), variable(g, "max", tf.Float64, tf.Shape{})
		t, c := grown(total, average.Sum()), grown(count, n.Sum())
		return ops.DivNoNan(total.Read(), count.Read()), ops.DivNoNan(t, c)
	}, labels, classes, opt.Weights)
}

// average returns the average precision of each example. Labels that are no class of the
// scores do not count.
func (r ranking) average(k int, scores tf.Output) tf.Output {
	hit := r.relevant().Cast(tf.Float64)
	precision := hit.Cumsum(-1).Div(ops.OnesLike(hit).Cumsum(-1))
	sum := ops.Sum(precision.Mul(hit), []int{-1})
	classes := ops.Shape(scores).At("-1").Cast(tf.Int64)
	isClass := r.labels.GreaterEqual(0).And(r.labels.Less(classes))
	n := ops.Sum(isClass.Cast(tf.Float64), []int{-1}).Minimum(k)
	return sum.Div(n)
}
