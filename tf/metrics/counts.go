package metrics

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A cell is one of the four of a table of labels and predictions.
type cell struct {
	name                 string
	isLabel, isPredicted bool
}

var (
	truePositives  = cell{"true_positives", true, true}
	falseNegatives = cell{"false_negatives", true, false}
	trueNegatives  = cell{"true_negatives", false, false}
	falsePositives = cell{"false_positives", false, true}
)

// of returns where labels and predictions, both bool, are in the cell.
func (c cell) of(labels, predictions tf.Output) tf.Output {
	if !c.isLabel {
		labels = labels.Not()
	}
	if !c.isPredicted {
		predictions = predictions.Not()
	}
	return labels.And(predictions)
}

// count is the weighted number of elements in a cell.
func (c cell) count(labels, predictions tf.Output, o []Options) (value, update tf.Output) {
	opt := optionsOf(o, c.name)
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		l, p := aligned(labels.Cast(tf.Bool), predictions.Cast(tf.Bool))
		hits := c.of(l, p).Cast(tf.Float32)
		if w := opt.Weights; !w.IsZero() {
			hits = hits.Mul(spread(fitted(w, hits), hits))
		}
		v := variable(g, "count", tf.Float32, tf.Shape{})
		return v.Read(), grown(v, hits.Sum())
	}, labels, predictions, opt.Weights)
}

// TruePositives counts elements that are predicted and labels.
func TruePositives(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return truePositives.count(labels, predictions, o)
}

// TrueNegatives counts elements that are neither predicted nor labels.
func TrueNegatives(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return trueNegatives.count(labels, predictions, o)
}

// FalsePositives counts elements that are predicted but no labels.
func FalsePositives(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return falsePositives.count(labels, predictions, o)
}

// FalseNegatives counts labels that are not predicted.
func FalseNegatives(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return falseNegatives.count(labels, predictions, o)
}

// Precision is true positives / all that is predicted.
func Precision(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return share("precision", falsePositives, labels, predictions, o)
}

// Recall is true positives / all labels.
func Recall(labels, predictions tf.Output, o ...Options) (value, update tf.Output) {
	return share("recall", falseNegatives, labels, predictions, o)
}

// share is true positives / (true positives + others).
func share(name string, others cell, labels, predictions tf.Output, o []Options) (value, update tf.Output) {
	opt := optionsOf(o, name)
	return scoped(opt.Name, func(*tf.Graph) (tf.Output, tf.Output) {
		own := []Options{{Weights: opt.Weights}}
		tp, addTP := truePositives.count(labels, predictions, own)
		x, addX := others.count(labels, predictions, own)
		return positiveShare(tp, tp.Add(x)), positiveShare(addTP, addTP.Add(addX))
	}, labels, predictions, opt.Weights)
}

// positiveShare is a/b, 0 where b is not positive: weights may be negative.
func positiveShare(a, b tf.Output) tf.Output {
	return ops.SelectV2(b.Greater(num(b, 0)), a.Div(b), num(b, 0))
}

// A table has the number of elements in each cell, by threshold.
type table struct{ tp, fn, tn, fp tf.Output }

// tables counts, for each threshold, predictions greater than it as positive:
// what the variables hold, and what they hold after this batch.
func tables(g *tf.Graph, labels, predictions, weights tf.Output, thresholds []float32) (value, update table) {
	l, p := aligned(labels.Cast(tf.Bool), inUnit(predictions.Cast(tf.Float32)))
	column := ops.Const(g, thresholds, len(thresholds), 1)
	positive := p.Reshape(1, -1).Greater(column)
	row := l.Reshape(1, -1)
	var w tf.Output
	if !weights.IsZero() {
		w = spread(fitted(weights, p), p).Reshape(1, -1)
	}
	one := func(c cell) (tf.Output, tf.Output) {
		hits := c.of(row, positive).Cast(tf.Float32)
		if !w.IsZero() {
			hits = hits.Mul(w)
		}
		v := variable(g, c.name, tf.Float32, tf.Shape{len(thresholds)})
		return v.Read(), grown(v, hits.Sum(1))
	}
	value.tp, update.tp = one(truePositives)
	value.fn, update.fn = one(falseNegatives)
	value.tn, update.tn = one(trueNegatives)
	value.fp, update.fp = one(falsePositives)
	return value, update
}

// inUnit refuses predictions outside of [0, 1] when a step computes them.
func inUnit(p tf.Output) tf.Output {
	within := p.GreaterEqual(num(p, 0)).And(p.LessEqual(num(p, 1))).All()
	check := tf.Apply(p.Graph(), "Assert", []tf.Output{within, ops.Scalar(p.Graph(), "predictions must be in [0, 1]"), p})
	return ops.Identity(p, tf.After(check))
}
