package estimator

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/train"
)

// A Mode says what a graph is for. The values are TensorFlow's ModeKeys.
type Mode string

const (
	Train   Mode = "train"
	Eval    Mode = "eval"
	Predict Mode = "infer"
)

// A ModelFn adds a model to the graph of c and says what the graph computes.
// It is called once for each graph, and must make the same variables in all
// modes.
type ModelFn func(c *Call) (*Spec, error)

// A Call is what a model function gets.
type Call struct {
	Graph    *tf.Graph
	Features feature.Features
	// Labels by key; nil in the mode Predict, and if the input has none.
	Labels feature.Features
	Mode   Mode
	Params any // of the estimator
	Config RunConfig
}

// Label returns the only label, the zero Output if there is none, several or one
// that is sparse.
func (c *Call) Label() tf.Output {
	if len(c.Labels) != 1 {
		return tf.Output{}
	}
	for _, x := range c.Labels {
		if x, ok := x.(tf.Output); ok {
			return x
		}
	}
	return tf.Output{}
}

// Feature returns a feature that is a dense tensor. If there is none of that key, the output has an
// error that says which there are.
func (c *Call) Feature(key string) tf.Output {
	x, ok := c.Features[key].(tf.Output)
	if !ok {
		return tf.Failed(c.Graph, "feature", c.noFeature(key, "tf.Output")).Output(0)
	}
	return x
}

// SparseFeature is Feature for a sparse tensor.
func (c *Call) SparseFeature(key string) sparse.Tensor {
	x, ok := c.Features[key].(sparse.Tensor)
	if !ok {
		bad := tf.Failed(c.Graph, "feature", c.noFeature(key, "sparse.Tensor")).Output(0)
		return sparse.Tensor{Indices: bad, Values: bad, DenseShape: bad}
	}
	return x
}

// noFeature says why there is no feature of a type under a key.
func (c *Call) noFeature(key, want string) error {
	if x, ok := c.Features[key]; ok {
		return tf.Errorf(tf.InvalidArgument, "feature %q is asked for as a %s, it is a %T", key, want, x)
	}
	return tf.Errorf(tf.InvalidArgument, "a feature that a model asks for must be one of its input's: there is no %q, there are %q", key, slices.Sorted(maps.Keys(c.Features)))
}

// A Metric is a measure that grows over many batches: what the functions of
// package metrics return. Its value may have any shape, such as that of a matrix
// of confusion; a scalar of type string is a serialized summary.
type Metric struct{ Value, Update tf.Output }

// MetricOf takes the two results of a function of package metrics.
func MetricOf(value, update tf.Output) Metric { return Metric{value, update} }

// A Spec says what a model's graph computes: TensorFlow's EstimatorSpec.
type Spec struct {
	Mode Mode // that of the Call
	// Predictions by key, each [batch ...]: needed in Predict.
	Predictions map[string]tf.Output
	// Loss is a scalar, or of one element: needed in Train and Eval.
	Loss tf.Output
	// TrainOp does a step, and adds 1 to the global step: needed in Train.
	TrainOp *tf.Operation
	// EvalMetrics by name, beside the loss.
	EvalMetrics map[string]Metric
	// ExportOutputs by the name of the signature. If there are none, Predictions
	// are exported; if there is one, it is the default.
	ExportOutputs map[string]ExportOutput
	// Scaffold changes how sessions begin; nil: as usual.
	Scaffold *train.Scaffold
	// Hooks take part in training, ChiefHooks in the chief's alone, EvalHooks in
	// evaluations, PredictHooks in predictions.
	Hooks, ChiefHooks, EvalHooks, PredictHooks []train.Hook
}

// check compares what a model function has returned with what its mode needs.
func (s *Spec) check(want Mode, g *tf.Graph) error {
	bad := func(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
	switch {
	case s == nil:
		return bad("a model function must return a Spec, got nil")
	case s.Mode == "":
		return bad("a Spec must say which mode it is for: Mode is missing, and the call has mode %q", want)
	case s.Mode != want:
		return bad("a Spec must be for the mode of the call, %q, got %q", want, s.Mode)
	case want == Train && s.TrainOp == nil:
		return bad("Missing train_op.")
	case want != Predict && s.Loss.IsZero():
		return bad("Missing loss.")
	case want == Predict && len(s.Predictions) == 0:
		return bad("Missing predictions.")
	}
	if want != Predict {
		if n := s.Loss.Shape().NumElements(); s.Loss.Err() == nil && s.Loss.Shape().Known() && n != 1 {
			return bad("Loss must be scalar, given: %v", s.Loss)
		}
		if s.Loss.Err() == nil && !s.Loss.DType().IsFloat() {
			return bad("Loss must be a floating-point number, given: %v", s.Loss)
		}
	}
	if s.TrainOp != nil && s.TrainOp.Err() == nil && s.TrainOp.Graph() != g {
		return bad("a Spec must be of the call's graph, %v is of another", s.TrainOp)
	}
	if err := s.checkExports(); err != nil {
		return err
	}
	return s.failed(g)
}

// checkExports looks at the outputs to be exported, in every mode as TensorFlow does.
func (s *Spec) checkExports() error {
	for _, key := range slices.Sorted(maps.Keys(s.ExportOutputs)) {
		o := s.ExportOutputs[key]
		if o == nil {
			return tf.Errorf(tf.InvalidArgument, "Values in export_outputs must be ExportOutput objects, got nil for %q", key)
		}
		if err := o.check(); err != nil {
			return err
		}
	}
	return nil
}

// scalarLoss makes a loss of one element the scalar that summaries and hooks take.
func (s *Spec) scalarLoss() {
	if s.Loss.Err() == nil && len(s.Loss.Shape()) > 0 {
		s.Loss = ops.Reshape(s.Loss, []int{})
	}
}

// failed returns the mistake that one of the outputs carries, or is: an output of
// another graph.
func (s *Spec) failed(g *tf.Graph) error {
	all := slices.Collect(maps.Values(s.Predictions))
	for _, m := range s.EvalMetrics {
		all = append(all, m.Value, m.Update)
	}
	for _, x := range append(all, s.Loss) {
		switch {
		case x.IsZero():
		case x.Err() != nil:
			return x.Err()
		case x.Graph() != g:
			return tf.Errorf(tf.InvalidArgument, "a Spec must be of the call's graph, %v is of another", x)
		}
	}
	return nil
}
