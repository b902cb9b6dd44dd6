// Package metrics has measures of models that are gathered over many steps:
// TensorFlow's module tf.metrics. Each adds local variables that hold what has
// been seen so far, and returns two outputs: the value of the measure, and an
// update that takes a further batch into account and is the value after that.
//
//	accuracy, update := metrics.Accuracy(labels, guesses)
//	start := tf.InitializeAll(g) // local variables, too
//	...
//	for feeds := range batches {
//		_, err = s.Run(ctx, feeds, update)
//		...
//	}
//	a, err := session.Fetch[float32](ctx, s, nil, accuracy)
//
// To begin again, run the operation that vars.Initialize(g, "reset",
// tf.Variables(g, metrics.Variables)...) adds. Do not fetch value and update in one step:
// their order is open.
//
// Labels are the first argument. Labels and predictions have one shape; a last
// dimension of size 1 may be missing in one of them. Shapes that are known to
// differ are refused with INVALID_ARGUMENT. Counts take whatever is not 0 for
// true. Results are float32 scalars unless the function says otherwise; those of the
// metrics at k are float64.
//
// Metrics are for graphs with sessions: in an eager graph they fail with
// FAILED_PRECONDITION, as in TensorFlow.
package metrics

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Variables is the name of TensorFlow's collection of the variables of metrics.
const Variables = "metric_variables"

// Options adjust a metric.
type Options struct {
	// Weights of the elements: a scalar, or of the values' rank with sizes that
	// are theirs or 1. A last dimension of size 1 may be missing or one too
	// many. All are 1 if not given.
	Weights tf.Output
	Name    string // of the scope; each metric has its own
}

func optionsOf(o []Options, name string) Options {
	var opt Options
	if len(o) > 0 {
		opt = o[0]
	}
	if opt.Name == "" {
		opt.Name = name
	}
	return opt
}

// variable adds one that begins with zeros, whatever control inputs are in force.
func variable(g *tf.Graph, name string, d tf.DType, s tf.Shape) *tf.Variable {
	dims := make([]int32, len(s))
	for i, n := range s {
		dims[i] = int32(n)
	}
	zero, err := core.ScalarOf(d, 0)
	if err != nil {
		return tf.NewVariable(tf.Failed(g, name, err).Output(0), tf.VariableOptions{Name: name})
	}
	var v *tf.Variable
	g.InitScope(func() {
		v = tf.NewVariable(ops.Fill(ops.Const(g, dims), ops.ConstValue(g, zero)), tf.VariableOptions{Name: name, Local: true, NotTrainable: true})
	})
	g.AddToCollection(Variables, v)
	return v
}

// grown adds x to v and returns v's value after that.
func grown(v *tf.Variable, x tf.Output) tf.Output { return v.Read(tf.After(v.AssignAdd(x))) }

// num adds a constant beside x.
func num(x tf.Output, v float64) tf.Output { return ops.Scalar(x.Graph(), float32(v)) }

// ratio is a/b, 0 where b is 0.
func ratio(a, b tf.Output) tf.Output { return ops.DivNoNan(a, b.Maximum(num(b, 0))) }

// scoped runs f in a scope of the graph of xs, unless one of them carries an error. The
// last one are the weights, which may be missing.
func scoped(name string, f func(g *tf.Graph) (value, update tf.Output), xs ...tf.Output) (value, update tf.Output) {
	for i, x := range xs {
		if x.Err() != nil && (!x.IsZero() || i < len(xs)-1) {
			return x, x
		}
	}
	g := xs[0].Graph()
	if g.IsEager() {
		y := tf.Failed(g, name, tf.Errorf(tf.FailedPrecondition, "tf.metrics.%s is not supported when eager execution is enabled.", name)).Output(0)
		return y, y
	}
	g.Scope(name, func() { value, update = f(g) })
	return value, update
}

// Mean is the weighted mean of all elements of values.
func Mean(values tf.Output, o ...Options) (value, update tf.Output) {
	opt := optionsOf(o, "mean")
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		x := values.Cast(tf.Float32)
		total, count := variable(g, "total", tf.Float32, tf.Shape{}), variable(g, "count", tf.Float32, tf.Shape{})
		n := ops.Size(x).Cast(tf.Float32)
		if w := opt.Weights; !w.IsZero() {
			w = spread(fitted(w, x), x)
			x, n = x.Mul(w), w.Sum()
		}
		t, c := grown(total, x.Sum()), grown(count, n)
		return ratio(total.Read(), count.Read()), ratio(t, c)
	}, values, opt.Weights)
}

// MeanTensor is the weighted mean of values element by element; their shape
// must be known.
func MeanTensor(values tf.Output, o ...Options) (value, update tf.Output) {
	opt := optionsOf(o, "mean")
	return scoped(opt.Name, func(g *tf.Graph) (tf.Output, tf.Output) {
		x := values.Cast(tf.Float32)
		if !x.Shape().Known() {
			y := tf.Failed(g, "mean", tf.Errorf(tf.InvalidArgument, "the shape of values must be known, got %v", x)).Output(0)
			return y, y
		}
		total, count := variable(g, "total_tensor", tf.Float32, x.Shape()), variable(g, "count_tensor", tf.Float32, x.Shape())
		n := ops.OnesLike(x)
		if w := opt.Weights; !w.IsZero() {
			w = spread(fitted(w, x), x)
			x, n = x.Mul(w), n.Mul(w)
		}
		t, c := grown(total, x), grown(count, n)
		return ratio(total.Read(), count.Read()), ratio(t, c)
	}, values, opt.Weights)
}

// fitted gives weights the rank of values, if it is one more or less.
func fitted(w, values tf.Output) tf.Output {
	a, b := w.Shape(), values.Shape()
	switch {
	case a != nil && len(a) == 0:
		return w
	case a == nil || b == nil:
		return spreading(w, values)
	case len(a) == len(b)+1:
		return ops.Squeeze(w, []int{-1})
	case len(b) == len(a)+1:
		return w.ExpandDims(-1)
	}
	return w
}

// spread repeats weights, as float32, so that each value has its own; weights that do
// not fit are an error, of the step where the graph does not know sizes.
func spread(w, values tf.Output) tf.Output { return spreadAs(tf.Float32, w, values) }

// spreadAs is spread with weights of type d.
func spreadAs(d tf.DType, w, values tf.Output) tf.Output {
	w = w.Cast(d)
	a, b, open := w.Shape(), values.Shape(), false
	if len(a) > 0 && b != nil {
		for i := range a {
			if len(a) != len(b) || a[i] != 1 && a[i] >= 0 && b[i] >= 0 && a[i] != b[i] {
				return tf.Failed(w.Graph(), "weights", tf.Errorf(tf.InvalidArgument,
					"weights can not be broadcast to values. values.shape=%v. weights.shape=%v.", b, a)).Output(0)
			}
			open = open || a[i] != 1 && (a[i] < 0 || b[i] < 0)
		}
	}
	if open {
		w = fitting(w, values)
	}
	return w.Mul(ops.OnesLike(values).Cast(d))
}

// aligned takes away the last dimension of labels or predictions if it is of
// size 1 and the other has not got it.
func aligned(labels, predictions tf.Output) (l, p tf.Output) {
	a, b := labels.Shape(), predictions.Shape()
	last := []int{-1}
	switch {
	case a == nil || b == nil:
		labels, predictions = shorter(labels, predictions), shorter(predictions, labels)
	case len(b) == len(a)+1:
		predictions = ops.Squeeze(predictions, last)
	case len(a) == len(b)+1:
		labels = ops.Squeeze(labels, last)
	}
	if !labels.Shape().Compatible(predictions.Shape()) {
		bad := tf.Failed(labels.Graph(), "labels", tf.Errorf(tf.InvalidArgument,
			"Shapes %v and %v are incompatible", predictions.Shape(), labels.Shape())).Output(0)
		return bad, bad
	}
	return labels, predictions
}
