package estimator

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/train"
)

// EvalOptions adjust [Estimator.Evaluate].
type EvalOptions struct {
	Steps int64 // batches at most; 0: until the input ends
	// Name tells evaluations on several datasets apart: summaries go to EvalDir.
	Name string
	// Checkpoint is the one to evaluate; "": the latest or, if its files are gone, the one
	// that training would go on from.
	Checkpoint string
	Hooks      []train.Hook
}

// Metrics are the results of an evaluation by name: those of the model that are
// single numbers, its "loss" (the mean over batches), and the "global_step" of the
// checkpoint.
type Metrics map[string]float64

// GlobalStepKey and LossKey name what all evaluations have.
const (
	GlobalStepKey = "global_step"
	LossKey       = "loss"
)

// Evaluate computes the model's metrics over an input, and writes them as
// summaries. Without a checkpoint it evaluates initial values. An input without
// a batch is an error of code InvalidArgument. Metrics that are no single numbers
// are in the summaries, and returned by [Estimator.EvaluateTensors].
func (e *Estimator) Evaluate(ctx context.Context, input InputFn, o EvalOptions) (Metrics, error) {
	all, err := e.EvaluateTensors(ctx, input, o)
	if err != nil {
		return nil, err
	}
	return numbers(all), nil
}

// EvaluateTensors is [Estimator.Evaluate], and returns all metrics, of any shapes
// and with the types that they have.
func (e *Estimator) EvaluateTensors(ctx context.Context, input InputFn, o EvalOptions) (map[string]*tf.Tensor, error) {
	if err := e.ready(ctx, "Evaluate"); err != nil {
		return nil, err
	}
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
	return out, e.summarize(out, o.Name, path)
}

// numbers returns those results that are single numbers.
func numbers(all map[string]*tf.Tensor) Metrics {
	out := Metrics{}
	for key, t := range all {
		if v, ok := number(t); ok {
			out[key] = v
		}
	}
	return out
}

// number returns the value of a scalar that is a number.
func number(t *tf.Tensor) (float64, bool) {
	if len(t.Shape()) != 0 {
		return 0, false
	}
	if h, ok := t.At(0).(interface{ Float32() float32 }); ok { // of two bytes
		return float64(h.Float32()), true
	}
	switch v := reflect.ValueOf(t.At(0)); {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.Kind() == reflect.Bool && v.Bool():
		return 1, true
	default:
		return 0, v.Kind() == reflect.Bool
	}
}

// metrics returns the model's metrics, the mean of the loss, and the global step,
// which has no update.
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
	}
	all[LossKey] = MetricOf(metrics.Mean(b.spec.Loss))
	all[GlobalStepKey] = Metric{Value: b.step.Value()}
	return all, b.g.Err()
}

func (e *Estimator) evaluate(ctx context.Context, b *build, all map[string]Metric, path string, o EvalOptions) (map[string]*tf.Tensor, error) {
	if err := b.feed.start(); err != nil {
		return nil, err
	}
	defer b.feed.close()
	s, err := e.session(ctx, b, path, e.config.EvalMaster, append(slices.Clone(o.Hooks), b.spec.EvalHooks...))
	if err != nil {
		return nil, err
	}
	var out map[string]*tf.Tensor
	err = inSession(s, func() error {
		n, err := b.updates(ctx, s, all, o.Steps)
		if err == nil && n == 0 {
			err = e.wrong("the input of an evaluation must have a batch")
		}
		if err == nil {
			out, err = values(ctx, s.RawSession(), all)
		}
		return err
	})
	return out, err
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
	return n, ctx.Err() // the session also stops with the program
}

// values reads the metrics after the last batch.
func values(ctx context.Context, s tf.StepRunner, all map[string]Metric) (map[string]*tf.Tensor, error) {
	keys := slices.Sorted(maps.Keys(all))
	var fetches []tf.Fetchable
	for _, key := range keys {
		fetches = append(fetches, all[key].Value)
	}
	ts, err := s.RunStep(ctx, nil, fetches...)
	if err != nil {
		return nil, err
	}
	out := map[string]*tf.Tensor{}
	for i, key := range keys {
		out[key] = ts[i]
	}
	return out, nil
}
