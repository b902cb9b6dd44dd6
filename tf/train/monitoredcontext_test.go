package train_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestContextOfMonitored: steps end with the context that the session was made with, too.
func TestContextOfMonitored(t *testing.T) {
	g := tf.NewGraph()
	x := queue.NewFIFO(g, []tf.DType{tf.Int32}, queue.Opts{}).Dequeue()[0]
	why := errors.New("the program ends")
	ctx, cancel := context.WithCancelCause(t.Context())
	h := &begunHook{begun: make(chan struct{})}
	m, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{h}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	go func() {
		<-h.begun
		cancel(why)
	}()
	if _, err := m.Run(context.Background(), nil, x); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("a step that waits: %v", err)
	}
	err = m.RunStepFn(context.Background(), func(ctx context.Context, _ *train.StepContext) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, why) {
		t.Errorf("a step function: %v", err)
	}
}

// TestLoopCutBetweenSteps: training that a context has ended between two steps is not over,
// and what was trained is saved; where a hook has ended it in the same step it is over.
func TestLoopCutBetweenSteps(t *testing.T) {
	for _, last := range []int64{2, 5} {
		g := tf.NewGraph()
		step := train.GlobalStep(g)
		next := step.AssignAdd(ops.Scalar[int64](g, 1))
		why := errors.New("the program ends")
		ctx, cancel := context.WithCancelCause(t.Context())
		dir := t.TempDir()
		m, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
			CheckpointDir: dir, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: last}},
		})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = m.Loop(ctx, func(ctx context.Context) error {
			_, err := m.Run(ctx, nil, next)
			if n++; n == 2 {
				cancel(why)
			}
			return err
		})
		if done := last == 2; done != (err == nil) || !done && !errors.Is(err, why) {
			t.Errorf("until step %d: %v", last, err)
		}
		if v, err := train.LoadVariable(dir, "global_step"); err != nil || tf.Data[int64](v)[0] != 2 {
			t.Errorf("until step %d: %v saved, %v", last, v, err)
		}
	}
}
