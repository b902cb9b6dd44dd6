package metrics

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// meanOf is the mean of what f computes of labels and predictions.
func meanOf(name string, labels, predictions tf.Output, o []Options, f func(l, p tf.Output) tf.Output) (value, update tf.Output) {
	if err := firstErr(labels, predictions); err != nil {
		y := tf.Failed(predictions.Graph(), name, err).Output(0)
		return y, y
	}
	l, p := aligned(labels, predictions)
	return Mean(f(l, p), optionsOf(o, name))
}

func firstErr(xs ...tf.Output) error {
	for _, x := range xs {
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Accuracy is the share of predictions that equal their labels.
func Accuracy(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return meanOf("accuracy", labels, predictions, o, func(l, p tf.Output) tf.Output {
		if p.DType() != l.DType() {
			p = p.Cast(l.DType())
		}
		return p.Equal(l).Cast(tf.Float32)
	})
}

// MeanAbsoluteError is the mean of |predictions - labels|.
func MeanAbsoluteError(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return meanOf("mean_absolute_error", labels, predictions, o, func(l, p tf.Output) tf.Output { return p.Sub(l).Abs() })
}

// MeanSquaredError is the mean of (predictions - labels)².
func MeanSquaredError(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return meanOf("mean_squared_error", labels, predictions, o, func(l, p tf.Output) tf.Output { return p.SquaredDifference(l) })
}

// RootMeanSquaredError is the root of MeanSquaredError.
func RootMeanSquaredError(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	value, update = MeanSquaredError(labels, predictions, optionsOf(o, "root_mean_squared_error"))
	return value.Sqrt(), update.Sqrt()
}

// MeanRelativeError is the mean of |labels - predictions| / normalizer, 0 where
// that is 0. A last dimension of size 1 may be missing in the normalizer, too.
func MeanRelativeError(labels, predictions, normalizer tf.Output, o ...Options) (value, update tf.Output) {
	return meanOf("mean_relative_error", labels, predictions, o, func(l, p tf.Output) tf.Output {
		n := normalizer
		if s := n.Shape(); s == nil || len(s) > 0 && len(s) != len(p.Shape()) {
			n, p = aligned(n, p)
			l, p = aligned(l, p)
		}
		zero := n.Equal(ops.ZerosLike(n))
		return ops.SelectV2(zero, ops.ZerosLike(l), l.Sub(p).Abs().Div(n))
	})
}

// MeanCosineDistance is 1 minus the mean product of labels and predictions,
// summed along an axis along which both are of unit length.
func MeanCosineDistance(labels, predictions tf.Output, axis int, o ...Options) (value, update tf.Output) {
	value, update = meanOf("mean_cosine_distance", labels, predictions, o, func(l, p tf.Output) tf.Output {
		return ops.Sum(p.Mul(l), ops.Const(p.Graph(), []int32{int32(axis)}), ops.ReduceOpts{KeepDims: true})
	})
	return num(value, 1).Sub(value), num(value, 1).Sub(update)
}

// PercentageBelow is the share of values that are less than a threshold.
func PercentageBelow(values tf.Output, threshold float64, o ...Options) (value, update tf.Output) {
	if err := values.Err(); err != nil {
		return values, values
	}
	if values.DType().IsInteger() { // the threshold need not be whole
		values = values.Cast(tf.Float64)
	}
	below := values.Less(threshold).Cast(tf.Float32)
	return Mean(below, optionsOf(o, "percentage_below_threshold"))
}

// confusion adds up, in a variable, how often each class (row) was predicted as
// each class (column).
func confusion(g *tf.Graph, labels, predictions, weights tf.Output, classes int) (total *tf.Variable, update tf.Output) {
	total = variable(g, "total_confusion_matrix", tf.Float64, tf.Shape{classes, classes})
	at := ops.Pack([]tf.Output{inClasses("labels", labels, classes), inClasses("predictions", predictions, classes)}, ops.AxisOpts{Axis: 1})
	counts := ops.OnesLike(labels.Reshape(-1)).Cast(tf.Float64)
	if !weights.IsZero() {
		counts = counts.Mul(weights.Cast(tf.Float64).Reshape(-1))
	}
	now := ops.ScatterNd(at, counts, ops.Const(g, []int64{int64(classes), int64(classes)}))
	return total, grown(total, now)
}

// inClasses returns x as a vector of classes, and fails the step if an element is none.
func inClasses(what string, x tf.Output, classes int) tf.Output {
	x = x.Cast(tf.Int64).Reshape(-1)
	all := ops.LogicalAnd(x.GreaterEqual(int64(0)), x.Less(int64(classes))).All()
	text := ops.Scalar(x.Graph(), fmt.Sprintf("`%s` out of bound: a class must be in [0, %d)", what, classes))
	return ops.Identity(x, tf.After(ops.Assert(all, []tf.Output{text, x})))
}

// MeanIOU is the mean over classes of intersection over union: true positives
// divided by all elements that have the class or were given it. Classes never
// seen do not count. The update is the confusion matrix, float64 [classes classes], with
// a row for each label. A number that is no class, below 0 or not below classes, fails the
// step with INVALID_ARGUMENT.
func MeanIOU(labels, predictions tf.Output, classes int, o ...Options) (value, update tf.Output) {
	opt := optionsOf(o, "mean_iou")
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		if bad := noClasses(g, classes); !bad.IsZero() {
			return bad, bad
		}
		l, p := aligned(labels, predictions)
		total, update := confusion(g, l, p, opt.Weights, classes)
		return iou(total.Read(), classes), update
	}, labels, predictions, opt.Weights)
}

// noClasses refuses a number of classes that is none.
func noClasses(g *tf.Graph, classes int) (bad tf.Output) {
	if classes < 0 {
		return tf.Failed(g, "classes", tf.Errorf(tf.InvalidArgument, "the number of classes must not be negative, got %d", classes)).Output(0)
	}
	return bad
}

func iou(matrix tf.Output, classes int) tf.Output {
	m := matrix.Cast(tf.Float32)
	hits := diagonal(m, classes)
	union := m.Sum(0).Add(m.Sum(1)).Sub(hits)
	seen := union.NotEqual(num(m, 0)).Cast(tf.Float32).Sum()
	return ratio(ops.DivNoNan(hits, union).Sum(), seen)
}

// diagonal returns the diagonal of a matrix [n n].
func diagonal(m tf.Output, n int) tf.Output {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i * (n + 1))
	}
	return ops.GatherV2(m.Reshape(-1), ops.Const(m.Graph(), at), ops.Scalar(m.Graph(), int32(0)))
}

// MeanPerClassAccuracy is the mean over classes of the share of elements of the
// class that were given it. The update has these shares, float32 [classes].
// A label that is no class, below 0 or not below classes, fails the step with
// INVALID_ARGUMENT.
func MeanPerClassAccuracy(labels, predictions tf.Output, classes int, o ...Options) (value, update tf.Output) {
	opt := optionsOf(o, "mean_accuracy")
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		if bad := noClasses(g, classes); !bad.IsZero() {
			return bad, bad
		}
		l, p := aligned(inClasses("labels", labels, classes), predictions.Cast(tf.Int64).Reshape(-1))
		total, count := variable(g, "total", tf.Float32, tf.Shape{classes}), variable(g, "count", tf.Float32, tf.Shape{classes})
		ones, right := ops.OnesLike(l).Cast(tf.Float32), p.Equal(l).Cast(tf.Float32)
		if w := opt.Weights; !w.IsZero() {
			w = w.Cast(tf.Float32).Reshape(-1)
			ones, right = ones.Mul(w), right.Mul(w)
		}
		byClass := func(x tf.Output) tf.Output {
			return ops.ScatterNd(l.ExpandDims(-1), x, ops.Const(g, []int64{int64(classes)}))
		}
		t, c := grown(total, byClass(ones)), grown(count, byClass(right))
		return ratio(count.Read(), total.Read()).Mean(), ratio(c, t)
	}, labels, predictions, opt.Weights)
}
