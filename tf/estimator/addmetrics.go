package estimator

import (
	"maps"

	"github.com/gorge-tf/gorge/tf"
)

// A MetricsFn adds metrics to those of a model, given its call in the mode [Eval] and
// its predictions by key.
type MetricsFn func(c *Call, predictions map[string]tf.Output) (map[string]Metric, error)

// AddMetrics returns an estimator of the same model and directory whose evaluations
// have the metrics of f as well: TensorFlow's tf.estimator.add_metrics. Of a name
// that both have, that of f counts.
func AddMetrics(e *Estimator, f MetricsFn) (*Estimator, error) {
	if e == nil || f == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "AddMetrics needs an estimator and a function of metrics (called at %s)", caller())
	}
	more := *e
	more.made, more.fn = caller(), func(c *Call) (*Spec, error) {
		s, err := e.fn(c)
		if err == nil && s != nil && c.Mode == Eval {
			err = s.add(c, f)
		}
		return s, err
	}
	return &more, nil
}

// add calls f with copies of what the model has.
func (s *Spec) add(c *Call, f MetricsFn) error {
	call := *c
	call.Features, call.Labels = maps.Clone(c.Features), maps.Clone(c.Labels)
	added, err := f(&call, maps.Clone(s.Predictions))
	if err != nil {
		return err
	}
	all := maps.Clone(s.EvalMetrics)
	if all == nil {
		all = map[string]Metric{}
	}
	maps.Copy(all, added)
	s.EvalMetrics = all
	return nil
}
