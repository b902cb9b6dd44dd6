package metrics

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// atThresholds is a function of the tables of given thresholds.
func atThresholds(name string, labels, predictions tf.Output, thresholds []float32, o []Options, f func(t table) tf.Output) (value, update tf.Output) {
	opt := optionsOf(o, name)
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		v, u := tables(g, labels, predictions, opt.Weights, thresholds)
		return f(v), f(u)
	}, labels, predictions, opt.Weights)
}

// TruePositivesAtThresholds counts, for each threshold, labels whose prediction is
// greater than it: float32 [thresholds], as with all metrics at thresholds. A prediction
// outside of [0, 1] fails the step with INVALID_ARGUMENT.
func TruePositivesAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("true_positives", labels, predictions, thresholds, o, func(t table) tf.Output { return t.tp })
}

// FalseNegativesAtThresholds counts, for each threshold, labels whose prediction
// is not greater than it.
func FalseNegativesAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("false_negatives", labels, predictions, thresholds, o, func(t table) tf.Output { return t.fn })
}

// TrueNegativesAtThresholds counts, for each threshold, elements that are no
// labels and whose prediction is not greater than it.
func TrueNegativesAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("true_negatives", labels, predictions, thresholds, o, func(t table) tf.Output { return t.tn })
}

// FalsePositivesAtThresholds counts, for each threshold, elements that are no
// labels and whose prediction is greater than it.
func FalsePositivesAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("false_positives", labels, predictions, thresholds, o, func(t table) tf.Output { return t.fp })
}

// tiny keeps TensorFlow's quotients finite.
const tiny = 1e-7

// PrecisionAtThresholds is Precision for each threshold.
func PrecisionAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("precision_at_thresholds", labels, predictions, thresholds, o, func(t table) tf.Output {
		return t.tp.Div(num(t.tp, tiny).Add(t.tp).Add(t.fp))
	})
}

// RecallAtThresholds is Recall for each threshold.
func RecallAtThresholds(labels, predictions tf.Output, thresholds []float32, o ...Options) (value, update tf.Output) {
	return atThresholds("recall_at_thresholds", labels, predictions, thresholds, o, func(t table) tf.Output {
		return t.tp.Div(num(t.tp, tiny).Add(t.tp).Add(t.fn))
	})
}

// evenly returns n thresholds from just below 0 to just above 1.
func evenly(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(float64(i) / float64(n-1))
	}
	out[0], out[n-1] = -tiny, 1+tiny
	return out
}

// A Curve is what AUC is the area under.
type Curve uint8

const (
	ROC Curve = iota // recall over the share of false positives
	PR               // precision over recall
)

// AUCOptions adjust AUC.
type AUCOptions struct {
	Options
	Thresholds []float32 // if not given, 200 from 0 to 1
	Curve      Curve
	// Careful interpolates precision between thresholds (Davis and Goadrich,
	// ICML 2006), as the curve PR asks for; else trapezoids are summed.
	Careful bool
}

// AUC is the area under the curve, approximated with thresholds.
func AUC(labels, predictions tf.Output, o ...AUCOptions) (value, update tf.Output) {
	var opt AUCOptions
	if len(o) > 0 {
		opt = o[0]
	}
	thresholds := evenly(200)
	if len(opt.Thresholds) > 0 {
		sorted := slices.Clone(opt.Thresholds)
		slices.Sort(sorted)
		thresholds = append(append([]float32{-tiny}, sorted...), 1+tiny)
	}
	f := trapezoids(opt.Curve)
	if opt.Careful && opt.Curve == PR {
		f = carefully
	}
	return atThresholds("auc", labels, predictions, thresholds, []Options{optionsOf([]Options{opt.Options}, "auc")}, f)
}

// neighbours returns x without its last element, and without its first. Where counts
// could not be made, as of shapes that differ, x has no size.
func neighbours(x tf.Output) (head, tail tf.Output) {
	if x.Err() != nil {
		return x, x
	}
	n := x.Shape()[0]
	at := func(from int) tf.Output {
		return ops.Slice(x, ops.Const(x.Graph(), []int32{int32(from)}), ops.Const(x.Graph(), []int32{int32(n - 1)}))
	}
	return at(0), at(1)
}

func trapezoids(c Curve) func(t table) tf.Output {
	return func(t table) tf.Output {
		e := num(t.tp, 1e-6)
		recall := t.tp.Add(e).Div(t.tp.Add(t.fn).Add(e))
		x, y := t.fp.Div(t.fp.Add(t.tn).Add(e)), recall
		if c == PR {
			x, y = recall, t.tp.Add(e).Div(t.tp.Add(t.fp).Add(e))
		}
		x0, x1 := neighbours(x)
		y0, y1 := neighbours(y)
		return x0.Sub(x1).Mul(y0.Add(y1).Div(num(y, 2))).Sum()
	}
}

// carefully sums the area under the curve of precision over recall, between
// whose points true positives are interpolated.
func carefully(t table) tf.Output {
	zero := num(t.tp, 0)
	tp0, tp1 := neighbours(t.tp)
	p0, p1 := neighbours(t.tp.Add(t.fp))
	_, fn1 := neighbours(t.fn)
	gained := tp0.Sub(tp1)
	slope := ratio(gained, p0.Sub(p1))
	intercept := tp1.Sub(slope.Mul(p1))
	safe := ops.SelectV2(p0.Greater(zero).And(p1.Greater(zero)), ratio(p0, p1), ops.OnesLike(p1))
	return ratio(slope.Mul(gained.Add(intercept.Mul(safe.Log()))), tp1.Add(fn1)).Sum()
}

// below1 returns 200 thresholds of which also the last is less than 1.
func below1() []float32 {
	t := evenly(200)
	t[len(t)-1] = 1 - tiny
	return t
}

// inRange returns x, or what carries the error that a share is none.
func inRange(x tf.Output, name string, share float64) tf.Output {
	if x.Err() != nil || share >= 0 && share <= 1 {
		return x
	}
	return tf.Failed(x.Graph(), name, tf.Errorf(tf.InvalidArgument, "`%s` must be in the range [0, 1]. Currently, `%s` is %v.", name, name, share)).Output(0)
}

// SensitivityAtSpecificity is the recall at the threshold of 200 whose
// specificity, the share of true negatives, is nearest to the one given. One outside of
// [0, 1] is refused with INVALID_ARGUMENT.
func SensitivityAtSpecificity(labels, predictions tf.Output, specificity float64, o ...Options) (value, update tf.Output) {
	labels = inRange(labels, "specificity", specificity)
	return atThresholds("sensitivity_at_specificity", labels, predictions, evenly(200), o, func(t table) tf.Output {
		e := num(t.tp, tiny)
		specificities := t.tn.Div(t.tn.Add(t.fp).Add(e))
		at := specificities.Sub(num(t.tp, specificity)).Abs().ArgMin(0)
		return pick(t.tp, at).Div(pick(t.tp, at).Add(pick(t.fn, at)).Add(e))
	})
}

// SpecificityAtSensitivity is the specificity at the threshold of 200 whose
// recall is nearest to the one given. One outside of [0, 1] is refused with
// INVALID_ARGUMENT.
func SpecificityAtSensitivity(labels, predictions tf.Output, sensitivity float64, o ...Options) (value, update tf.Output) {
	labels = inRange(labels, "sensitivity", sensitivity)
	return atThresholds("specificity_at_sensitivity", labels, predictions, below1(), o, func(t table) tf.Output {
		e := num(t.tp, tiny)
		recalls := t.tp.Div(t.tp.Add(t.fn).Add(e))
		off := recalls.Sub(num(t.tp, sensitivity)).Abs()
		nearest := off.Equal(off.Min()).Cast(tf.Int64)
		at := ops.Cumsum(nearest, ops.Scalar(off.Graph(), int32(0))).ArgMax(0) // the last of several
		return pick(t.tn, at).Div(pick(t.tn, at).Add(pick(t.fp, at)).Add(e))
	})
}

func pick(x, at tf.Output) tf.Output { return ops.GatherV2(x, at, ops.Scalar(x.Graph(), int32(0))) }
