package estimator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TrainOptions say how long [Estimator.Train] goes on: until the input ends if
// neither Steps nor MaxSteps is set. At most one of them is.
type TrainOptions struct {
	Steps    int64 // how many more steps
	MaxSteps int64 // the global step to end at; nothing is done if it is reached
	Hooks    []train.Hook
	// Listeners take part in saving checkpoints.
	Listeners []train.CheckpointSaverListener
}

func (o *TrainOptions) check() error {
	switch {
	case o.Steps != 0 && o.MaxSteps != 0:
		return tf.Errorf(tf.InvalidArgument, "Can not provide both steps and max_steps.")
	case o.Steps < 0:
		return tf.Errorf(tf.InvalidArgument, "Must specify steps > 0, given: %d", o.Steps)
	case slices.Contains(o.Hooks, nil) || slices.Contains(o.Listeners, nil):
		return tf.Errorf(tf.InvalidArgument, "hooks and listeners must not be nil")
	case o.MaxSteps < 0:
		return tf.Errorf(tf.InvalidArgument, "Must specify max_steps > 0, given: %d", o.MaxSteps)
	}
	return nil
}

// Train trains the model on an input, from the latest checkpoint of the model
// directory or from initial values, and saves checkpoints and summaries there.
// A loss that is not a number ends it with train.ErrNanLoss, the end of ctx with the
// error of ctx. Where the latest checkpoint is damaged, training goes on from the
// last one that is whole.
func (e *Estimator) Train(ctx context.Context, input InputFn, o TrainOptions) error {
	if err := e.ready(ctx, "Train"); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return e.wrong("%s", tf.AsError(err).Message())
	}
	if c := e.config.Cluster; c != nil && c.Type == Evaluator {
		return e.wrong("an evaluator does not train: TrainAndEvaluate evaluates the checkpoints that others save")
	}
	if o.MaxSteps > 0 {
		done, err := e.stepDone()
		if err != nil {
			return err
		}
		if done >= o.MaxSteps {
			slog.Info("Skipping training since max_steps has already saved.", "step", done)
			return nil
		}
	}
	b, err := e.build(ctx, Train, input)
	if err != nil {
		return err
	}
	return e.run(ctx, b, o)
}

// stepDone returns the step that training goes on from.
func (e *Estimator) stepDone() (int64, error) {
	path, err := e.resumable()
	if path == "" || err != nil {
		return 0, err
	}
	return stepOf(path)
}

// GlobalStep returns the step of the latest checkpoint, 0 if there is none.
func (e *Estimator) GlobalStep() (int64, error) {
	path, err := e.LatestCheckpoint()
	if path == "" || err != nil {
		return 0, err
	}
	return stepOf(path)
}

// stepOf returns the global step in a checkpoint.
func stepOf(path string) (int64, error) {
	t, err := train.LoadVariable(path, "global_step")
	if err != nil {
		return 0, err
	}
	n, err := t.Ints()
	if err != nil || len(n) != 1 {
		return 0, tf.Errorf(tf.DataLoss, "the global step in %s must be one integer, got a %v of shape %v", path, t.DType(), t.Shape())
	}
	return int64(n[0]), nil
}

// run trains the model of b.
func (e *Estimator) run(ctx context.Context, b *build, o TrainOptions) error {
	if err := e.signalStops(b, append(slices.Clone(o.Hooks), b.spec.Hooks...)); err != nil {
		return err
	}
	if err := e.prepare(b); err != nil {
		return err
	}
	if err := b.feed.start(); err != nil {
		return err
	}
	defer b.feed.close()
	s, err := train.MonitoredTrainingSession(ctx, b.g, e.training(b, o))
	if err != nil {
		return err
	}
	cut := false
	err = inSession(s, func() error {
		for !s.ShouldStop() {
			if err := b.trainStep(ctx, s); err != nil {
				return withoutEnd(err)
			}
		}
		cut = ctx.Err() != nil
		return nil
	})
	if err == nil && cut { // between two steps; what was trained has been saved
		err = ctx.Err()
	}
	return err
}

// withoutEnd is err, or nil for the end of the input.
func withoutEnd(err error) error {
	if errors.Is(err, data.End) {
		return nil
	}
	return err
}

func (b *build) trainStep(ctx context.Context, s *train.MonitoredSession) error {
	feeds, err := b.feed.next(ctx)
	if err != nil {
		return err
	}
	_, err = s.Run(ctx, feeds, b.spec.TrainOp)
	return err
}

// prepare completes the graph: initial values of a warm start, the saver, the
// summary of the loss. A checkpoint of another model is refused here, before
// anything is written.
func (e *Estimator) prepare(b *build) error {
	latest, err := e.resumable()
	if err != nil {
		return err
	}
	chief := e.config.Cluster.IsChief()
	if latest != "" && chief {
		if err := e.fits(b.g, latest); err != nil {
			return err
		}
	}
	if latest == "" && e.warm != nil {
		if err := e.warm.apply(b.g); err != nil {
			return e.wrong("%s", tf.AsError(err).Message())
		}
	}
	b.summarizeLoss()
	sc := b.scaffold()
	if sc.Saver != nil || len(b.g.Collection(train.Savers)) > 0 {
		return b.g.Err()
	}
	saver, err := train.NewSaver(b.g, train.SaverOptions{
		Sharded: true, MaxToKeep: e.config.KeepCheckpointMax, KeepEveryHours: e.config.KeepCheckpointEveryHours, SaveRelativePaths: true,
	})
	if err != nil {
		return err
	}
	b.g.AddToCollection(train.Savers, saver)
	sc.Saver = saver
	return b.g.Err()
}

// training returns the options of the session that trains.
func (e *Estimator) training(b *build, o TrainOptions) train.TrainingOptions {
	c := e.config
	t := train.TrainingOptions{
		Session: c.Session, Worker: !c.Cluster.IsChief(), CheckpointDir: c.ModelDir, Scaffold: b.spec.Scaffold,
		Hooks: e.hooks(b, o), ChiefHooks: b.spec.ChiefHooks, Listeners: o.Listeners,
		SaveCheckpointEvery: c.SaveCheckpointsEvery, SaveCheckpointSteps: c.SaveCheckpointsSteps,
		SaveSummariesSteps: c.SaveSummarySteps, LogStepCountSteps: c.LogStepCountSteps,
	}
	if c.Cluster != nil && !c.alone() {
		// Tasks of other workers need not be there.
		mine := session.DeviceFilters("/job:"+PS, fmt.Sprintf("/job:%s/task:%d", c.Cluster.Type, c.Cluster.Index))
		t.Target, t.Session = c.Cluster.target(), append(slices.Clone(t.Session), mine)
		t.RecoveryWait, t.MaxWait = c.RecoveryWait, c.SessionTimeout
	}
	t.Target = cmp.Or(c.Master, t.Target)
	return t
}

// hooks are those of the program, of the estimator and of the model, in
// TensorFlow's order.
func (e *Estimator) hooks(b *build, o TrainOptions) []train.Hook {
	all := append([]train.Hook(nil), o.Hooks...)
	if o.Steps > 0 || o.MaxSteps > 0 {
		all = append(all, &train.StopAtStepHook{NumSteps: o.Steps, LastStep: o.MaxSteps})
	}
	all = append(all, &train.NanTensorHook{Loss: b.spec.Loss})
	if n := e.config.LogStepCountSteps; n > 0 {
		all = append(all, &train.LoggingTensorHook{Tensors: []tf.Output{b.spec.Loss, b.step.Value()}, Tags: []string{"loss", "step"}, EveryIter: n})
	}
	return append(all, b.spec.Hooks...)
}
