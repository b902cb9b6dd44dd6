package train_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// double returns a graph with a variable that is 1, and what doubles it and counts
// the steps.
func double() (g *tf.Graph, v *tf.Variable, step *tf.Operation) {
	g = tf.NewGraph()
	v = tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	count := train.GetOrCreateGlobalStep(g)
	step = count.AssignAdd(ops.Scalar[int64](g, 1), tf.After(v.Assign(v.Value().Mul(float32(2)))))
	return g, v, step
}

// What is logged goes to slog's default logger, or to one that is given.
func ExampleLoggingTensorHook() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.MessageKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	ctx := context.Background()
	g, v, step := double()
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{
		&train.LoggingTensorHook{Tensors: []tf.Output{v.Value()}, EveryIter: 2, Logger: plain,
			Format: func(values []*tf.Tensor) string { return fmt.Sprint("v is ", values[0].At(0)) }},
		&train.StopAtStepHook{LastStep: 4},
	}})
	if err == nil {
		err = s.Train(ctx, step)
	}
	fmt.Println(err)
	// Output:
	// msg="v is 1"
	// msg="v is 4"
	// <nil>
}

// The loss is the logarithm of 4 - v. When v is 8, training ends and says why.
func ExampleNanTensorHook() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx := context.Background()
	g, v, step := double()
	loss := v.Value().Neg().Add(float32(4)).Log()
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{
		&train.NanTensorHook{Loss: loss},
	}})
	if err == nil {
		err = s.Train(ctx, step)
	}
	fmt.Println(errors.Is(err, train.ErrNanLoss), err)
	// Output: true NaN loss during training. (tensor Log:0, global step 4)
}

// Input comes from a function, and a last fetch is made when training is over.
func ExampleFeedFnHook() {
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	sum := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "sum"})
	step := sum.AssignAdd(x)
	next := float32(0)
	final := &train.FinalOpsHook{FinalOps: []tf.Fetchable{sum.Value()}}
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{
		&train.FeedFnHook{Feed: func() (session.Feeds, error) {
			next++
			return session.Feeds{x: tf.Scalar(next)}, nil
		}},
		final,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; i < 3 && err == nil; i++ {
		_, err = s.Run(ctx, nil, step)
	}
	err = s.CloseWith(err)
	fmt.Println(final.Values, err)
	// Output: [float32[]{6}] <nil>
}

// A listener is told of each save: here to say what was saved.
type saveListener struct{ train.BaseListener }

func (saveListener) AfterSave(_ context.Context, _ *session.Session, step int64) (stop bool, err error) {
	fmt.Println("saved step", step)
	return step >= 4, nil
}

// Checkpoints are written when the session is new, every so many steps, and at the
// end; a listener takes part, and may end training.
func ExampleCheckpointSaverHook() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	g, _, step := double()
	var listener train.CheckpointSaverListener = saveListener{}
	scaffold := &train.Scaffold{}
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{
		Creator: &train.ChiefSessionCreator{Graph: g, Scaffold: scaffold},
		Hooks: []train.Hook{&train.CheckpointSaverHook{
			CheckpointDir: dir, SaveSteps: 2, Scaffold: scaffold, Listeners: []train.CheckpointSaverListener{listener},
		}},
	})
	if err == nil {
		err = s.Train(ctx, step)
	}
	fmt.Println(err)
	// Output:
	// saved step 0
	// saved step 2
	// saved step 4
	// <nil>
}

// Summaries, the rate of steps and traces are written to event files.
func ExampleSummarySaverHook() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	g, v, step := double()
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{
		&train.SummarySaverHook{OutputDir: dir, SaveSteps: 1, SummaryOps: []tf.Output{summary.Scalar("v", v.Value())}},
		&train.StepCounterHook{OutputDir: dir, EverySteps: 2},
		&train.ProfilerHook{OutputDir: dir, SaveSteps: 2},
		&train.StopAtStepHook{LastStep: 4},
	}})
	if err == nil {
		err = s.Train(ctx, step)
	}
	fmt.Println(err)
	for _, pattern := range []string{"events.*", "timeline-*.json"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		fmt.Println(len(files), pattern)
	}
	// Output:
	// <nil>
	// 1 events.*
	// 2 timeline-*.json
}

// A worker that begins later than the others waits for the step that they have
// come to.
func ExampleGlobalStepWaiterHook() {
	ctx := context.Background()
	g, v, step := double()
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{
		&train.GlobalStepWaiterHook{WaitUntilStep: 3, Poll: time.Millisecond},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 { // what another worker does, in the same model
		if _, err := s.RawSession().Run(ctx, nil, step); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, v.Value())
	fmt.Println(out, s.CloseWith(err))
	// Output: [float32[]{8}] <nil>
}

// everySecond is a hook that fetches something of its own in every second step.
type everySecond struct {
	train.BaseHook
	timer train.SecondOrStepTimer
	fetch tf.Output
	step  int64
}

func (h *everySecond) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	if h.step++; !h.timer.ShouldTrigger(h.step) {
		return train.RunArgs{}, nil
	}
	h.timer.Update(h.step)
	return train.RunArgs{Fetches: []tf.Fetchable{h.fetch}}, nil
}

func (h *everySecond) AfterRun(_ context.Context, r *train.RunContext, v train.RunValues) error {
	fmt.Println("step", h.step, v.Results, "beside", len(r.Original.Fetches), "of the program")
	return nil
}

// A hook adds fetches to a step; a timer says in which steps.
func ExampleSecondOrStepTimer() {
	ctx := context.Background()
	g, v, step := double()
	hook := &everySecond{timer: train.SecondOrStepTimer{EverySteps: 2}, fetch: v.Value()}
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{hook, &train.StopAtStepHook{LastStep: 3}}})
	if err == nil {
		err = s.Train(ctx, step)
	}
	fmt.Println(err)
	// Output:
	// step 1 [float32[]{1}] beside 1 of the program
	// step 2 [] beside 1 of the program
	// step 3 [float32[]{4}] beside 1 of the program
	// <nil>
}
