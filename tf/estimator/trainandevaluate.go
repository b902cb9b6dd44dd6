package estimator

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A TrainSpec says how [TrainAndEvaluate] trains.
type TrainSpec struct {
	Input    InputFn
	MaxSteps int64 // the global step to end at; 0: when the input ends
	Hooks    []train.Hook
	// Listeners take part in saving checkpoints, in the process that saves them.
	Listeners []train.CheckpointSaverListener
}

func (s *TrainSpec) options() TrainOptions {
	return TrainOptions{MaxSteps: s.MaxSteps, Hooks: s.Hooks, Listeners: slices.Clone(s.Listeners)}
}

// An EvalSpec says how and when [TrainAndEvaluate] evaluates and exports.
type EvalSpec struct {
	Input     InputFn
	Steps     int64 // batches at most; 0: 100, negative: until the input ends
	Name      string
	Hooks     []train.Hook
	Exporters []Exporter
	// StartDelay is how long an evaluator waits first; 0: 120 s, negative: not at
	// all. Throttle is the least time between two evaluations; 0: 600 s,
	// negative: none.
	StartDelay, Throttle time.Duration
}

// positive is d, a default for 0, and 0 for what is negative.
func positive(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return max(d, 0)
}

func (s *EvalSpec) options(path string) EvalOptions {
	steps := s.Steps
	if steps == 0 {
		steps = 100
	}
	return EvalOptions{Steps: max(steps, 0), Name: s.Name, Hooks: s.Hooks, Checkpoint: path}
}

// TrainAndEvaluate trains a model and evaluates its checkpoints. Without a
// cluster both happen here: the model is evaluated after a checkpoint has been
// saved, as often as EvalSpec.Throttle allows, and at the end; the results are
// those of the last evaluation. In a cluster the process does the work of its
// task: a chief and workers train, parameter servers serve until ctx ends, and
// an evaluator evaluates each checkpoint until one has step MaxSteps. One that
// training has removed meanwhile is left out. A master trains as a chief and
// evaluates as a process without a cluster does.
func TrainAndEvaluate(ctx context.Context, e *Estimator, t TrainSpec, v EvalSpec) (Metrics, error) {
	if err := core.NeedContext(ctx, "TrainAndEvaluate"); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "TrainAndEvaluate needs an estimator, got nil")
	}
	if t.Input == nil || v.Input == nil {
		return nil, e.wrong("TrainAndEvaluate needs an input function for training and one for evaluation")
	}
	if err := e.checkExporters(v.Exporters); err != nil {
		return nil, err
	}
	c := e.config.Cluster
	if c == nil {
		return e.trainHere(ctx, t, v)
	}
	if c.Type == Evaluator {
		return e.evaluateAll(ctx, t.MaxSteps, &v)
	}
	return e.takePart(ctx, c, t, v)
}

// trainHere evaluates in the saves of checkpoints.
func (e *Estimator) trainHere(ctx context.Context, t TrainSpec, v EvalSpec) (Metrics, error) {
	l := &evaluating{e: e, spec: &v, max: t.MaxSteps}
	o := t.options()
	o.Listeners = append(o.Listeners, l)
	if err := e.Train(ctx, t.Input, o); err != nil {
		return nil, err
	}
	// The last save is that of the end, after which hooks have nothing to stop.
	if err := l.evaluate(ctx, true); err != nil {
		return nil, err
	}
	return l.last, nil
}

// evaluating is the listener that evaluates checkpoints when they have been
// saved.
type evaluating struct {
	train.BaseListener
	e    *Estimator
	spec *EvalSpec
	max  int64
	// begun: the save before the first step has been seen. done is the step that
	// was evaluated last, at is when.
	begun bool
	done  int64
	at    time.Time
	last  Metrics
}

// AfterSave evaluates unless the last evaluation was not long ago. The save
// before the first step of a session is left out, the one at the end is
// evaluated after training.
func (l *evaluating) AfterSave(ctx context.Context, _ *session.Session, step int64) (bool, error) {
	if !l.begun {
		l.begun, l.at = true, time.Now()
		return false, nil
	}
	if l.max > 0 && step >= l.max || time.Since(l.at) < positive(l.spec.Throttle, 600*time.Second) {
		return false, nil
	}
	return false, l.evaluate(ctx, false)
}

// evaluate evaluates the latest checkpoint, and exports it. The last time it
// does so even if that has been evaluated: exporters learn that it is the last.
func (l *evaluating) evaluate(ctx context.Context, final bool) error {
	path, err := l.e.LatestCheckpoint()
	if err != nil || path == "" {
		return err
	}
	step, err := stepOf(path)
	if err != nil {
		return err
	}
	if l.last == nil || step != l.done {
		if l.last, err = l.e.Evaluate(ctx, l.spec.Input, l.spec.options(path)); err != nil {
			return err
		}
	}
	l.done, l.at = step, time.Now()
	return l.e.export(ctx, l.spec.Exporters, path, l.last, final)
}

// evaluateAll is the work of an evaluator.
func (e *Estimator) evaluateAll(ctx context.Context, maxSteps int64, v *EvalSpec) (last Metrics, err error) {
	if err := sleep(ctx, positive(v.StartDelay, 120*time.Second)); err != nil {
		return nil, err
	}
	o := train.CheckpointsOptions{MinInterval: positive(v.Throttle, 600*time.Second)}
	for path := range train.CheckpointsIterator(ctx, e.config.ModelDir, o) {
		m, final, err := e.evaluateOne(ctx, path, maxSteps, v)
		switch {
		case err != nil && ctx.Err() == nil && e.replaced(path):
			slog.Warn("A checkpoint has been removed while it was evaluated.", "checkpoint", path, "error", err)
			continue
		case err != nil:
			return m, err
		case final:
			return m, nil
		}
		last = m
	}
	return last, ctx.Err()
}

// evaluateOne evaluates and exports a checkpoint. final: it is the last one.
func (e *Estimator) evaluateOne(ctx context.Context, path string, maxSteps int64, v *EvalSpec) (m Metrics, final bool, err error) {
	if m, err = e.Evaluate(ctx, v.Input, v.options(path)); err != nil {
		return nil, false, err
	}
	final = maxSteps > 0 && int64(m[GlobalStepKey]) >= maxSteps
	return m, final, e.export(ctx, v.Exporters, path, m, final)
}

// replaced reports whether a checkpoint is gone and there is a newer one: a slow
// evaluator may lose it to the trainer, who keeps the latest ones.
func (e *Estimator) replaced(path string) bool {
	latest, err := e.LatestCheckpoint()
	return err == nil && latest != "" && latest != path && !train.CheckpointExists(path)
}

// takePart is the work of a task that has a server.
func (e *Estimator) takePart(ctx context.Context, c *Cluster, t TrainSpec, v EvalSpec) (m Metrics, err error) {
	if e.config.alone() {
		return e.trainAs(ctx, c, t, v)
	}
	if e.config.Serve == nil {
		return nil, e.fault(tf.FailedPrecondition, "a %s of a cluster needs RunConfig.Serve: that of package tf/estimator/clustered", c.Type)
	}
	s, err := e.config.Serve(c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := s.Stop(); err == nil {
			err = e
		}
	}()
	if c.Type == PS {
		<-ctx.Done()
		return nil, nil
	}
	if c.Type == Worker {
		if err := sleep(ctx, min(positive(e.config.WorkerDelay, 5*time.Second)*time.Duration(c.Index+1), time.Minute)); err != nil {
			return nil, err
		}
	}
	slog.Info("Training in a cluster.", "task", c.Type, "index", c.Index)
	return e.trainAs(ctx, c, t, v)
}

// trainAs trains, and evaluates if the task is the master.
func (e *Estimator) trainAs(ctx context.Context, c *Cluster, t TrainSpec, v EvalSpec) (Metrics, error) {
	if c.Type == Master {
		return e.trainHere(ctx, t, v)
	}
	return nil, e.Train(ctx, t.Input, t.options())
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
