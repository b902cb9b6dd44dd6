package estimator

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

// EvalOptions adjust [Estimator.Evaluate].
type EvalOptions struct {
	Steps int64 // batches at most; 0: until the input ends
	// Name tells evaluations on several datasets apart: summaries go to EvalDir.
	Name string
	// Checkpoint is the one to evaluate, the latest if it is "".
	Checkpoint string
	Hooks      []train.Hook
}

// Metrics are the results of an evaluation by name: those of the model, its
// "loss" (the mean over batches), and the "global_step" of the checkpoint.
type Metrics map[string]float64

// GlobalStepKey and LossKey name what all evaluations have.
const (
	GlobalStepKey = "global_step"
	LossKey       = "loss"
)

// Evaluate computes the model's metrics over an input, and writes them as
// summaries. Without a checkpoint it evaluates initial values. An input without
// a batch is an error of code InvalidArgument.
func (e *Estimator) Evaluate(ctx context.Context, input InputFn, o EvalOptions) (Metrics, error) {
	if o.Steps < 0 {
		return nil, e.wrong("Must specify steps > 0, given: %d", o.Steps)
	}
	path, err := e.checkpoint(o.Checkpoint)
	if err != nil {
		return nil, err
	}
	if path == "" {
		slog.Info("Could not find trained model in model_dir: running initialization to evaluate.", "model_dir", e.config.ModelDir)
	}
	b, err := e.build(ctx, Eval, input)
	if err != nil {
		return nil, err
	}
	all, err := b.metrics()
	if err != nil {
		return nil, e.wrong("%s", tf.AsError(err).Message())
	}
	out, err := e.evaluate(ctx, b, all, path, o)
	if err != nil {
		return nil, err
	}
	return out, e.summarize(out, o.Name)
}

// metrics returns the model's metrics in float64, the mean of the loss, and the
// global step, which has no update.
func (b *build) metrics() (map[string]Metric, error) {
	all := maps.Clone(b.spec.EvalMetrics)
	if all == nil {
		all = map[string]Metric{}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		m := all[key]
		if key == LossKey || key == GlobalStepKey {
			return nil, tf.Errorf(tf.InvalidArgument, "Metric with name %q is not allowed, because Estimator already defines a default metric with the same name.", key)
		}
		if m.Value.IsZero() || m.Update.IsZero() {
			return nil, tf.Errorf(tf.InvalidArgument, "a metric must have a value and an update: %q", key)
		}
		if len(m.Value.Shape()) > 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "a metric must be a scalar: %q is %v", key, m.Value)
		}
	}
	all[LossKey] = MetricOf(metrics.Mean(b.spec.Loss))
	all[GlobalStepKey] = Metric{Value: b.step.Value()}
	for key, m := range all {
		all[key] = Metric{m.Value.Cast(tf.Float64), m.Update}
	}
	return all, b.g.Err()
}

func (e *Estimator) evaluate(ctx context.Context, b *build, all map[string]Metric, path string, o EvalOptions) (Metrics, error) {
	if err := b.feed.start(); err != nil {
		return nil, err
	}
	defer b.feed.close()
	s, err := e.session(ctx, b, path, append(slices.Clone(o.Hooks), b.spec.EvalHooks...))
	if err != nil {
		return nil, err
	}
	n, err := b.updates(ctx, s, all, o.Steps)
	if err == nil && n == 0 {
		err = e.wrong("the input of an evaluation must have a batch")
	}
	var out Metrics
	if err == nil {
		out, err = values(ctx, s.RawSession(), all)
	}
	return out, s.CloseWith(err)
}

// updates takes batches into account, and returns how many there were.
func (b *build) updates(ctx context.Context, s *train.MonitoredSession, all map[string]Metric, limit int64) (n int64, err error) {
	var updates []tf.Fetchable
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if u := all[key].Update; !u.IsZero() {
			updates = append(updates, u.Operation())
		}
	}
	for ; (limit == 0 || n < limit) && !s.ShouldStop(); n++ {
		feeds, err := b.feed.next(ctx)
		if errors.Is(err, data.End) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if _, err := s.Run(ctx, feeds, updates...); err != nil {
			return n, err
		}
	}
	return n, nil
}

// values reads the metrics after the last batch.
func values(ctx context.Context, s tf.StepRunner, all map[string]Metric) (Metrics, error) {
	keys := slices.Sorted(maps.Keys(all))
	var fetches []tf.Fetchable
	for _, key := range keys {
		fetches = append(fetches, all[key].Value)
	}
	ts, err := s.RunStep(ctx, nil, fetches...)
	if err != nil {
		return nil, err
	}
	out := Metrics{}
	for i, key := range keys {
		v, err := tf.Values[float64](ts[i])
		if err != nil || len(v) != 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "a metric must be a scalar: %q is %v", key, ts[i])
		}
		out[key] = v[0]
	}
	return out, nil
}

// summarize writes results to an event file.
func (e *Estimator) summarize(m Metrics, name string) error {
	w, err := summary.NewFileWriter(e.EvalDir(name))
	if err != nil {
		return err
	}
	step := int64(m[GlobalStepKey])
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == GlobalStepKey {
			continue
		}
		if err := w.Scalar(step, key, float32(m[key])); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
