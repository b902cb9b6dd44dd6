package train_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A saver writes the variables of a session to TensorFlow's files, and gives them
// to another session.
func ExampleSaver() {
	dir, err := os.MkdirTemp("", "saver")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer first.Close()
	if _, err := first.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := saver.SaveStep(ctx, first, filepath.Join(dir, "model.ckpt"), 100); err != nil {
		fmt.Println(err)
		return
	}

	second, err := session.New(g) // its variables have no values yet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Close()
	latest, err := train.LatestCheckpoint(dir)
	if err == nil {
		err = saver.Restore(ctx, second, latest)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := session.Fetch[float32](ctx, second, nil, v.Value())
	fmt.Println(filepath.Base(latest), got, err)
	list, err := train.ListVariables(dir) // without a graph
	fmt.Println(list[0].Name, list[0].DType, list[0].Shape, err)
	// Output:
	// model.ckpt-100 [1 2] <nil>
	// v float32 [2] <nil>
}

// A training program: the session initializes the model, or goes on from the last
// checkpoint; hooks save it, write summaries and say when to stop.
func ExampleMonitoredTrainingSession() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for _, last := range []int64{20, 50} { // the second program finds what the first one left
		ctx, g := context.Background(), tf.NewGraph()
		w := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
		loss := w.Value().Sub(float32(5)).Square()
		summary.Scalar("loss", loss)
		step := train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})

		s, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
			CheckpointDir: dir, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: last}},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		steps := 0
		err = s.Loop(ctx, func(ctx context.Context) error {
			steps++
			_, err := s.Run(ctx, nil, step)
			return err
		})
		latest, _ := train.LatestCheckpoint(dir)
		fmt.Println(steps, "steps to", filepath.Base(latest), err)
	}
	v, err := train.LoadVariable(dir, "w")
	fmt.Printf("%.3f %v\n", v.At(0), err)
	// Output:
	// 20 steps to model.ckpt-20 <nil>
	// 30 steps to model.ckpt-50 <nil>
	// 5.000 <nil>
}

// untilDone is a hook of one's own: it counts steps.
type untilDone struct {
	train.BaseHook
	left int
}

func (h *untilDone) AfterRun(_ context.Context, r *train.RunContext, _ train.RunValues) error {
	if h.left--; h.left == 0 {
		r.RequestStop()
	}
	return nil
}

// A hook of one's own embeds BaseHook and has the methods that it needs.
func ExampleHook() {
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, int32(0)), tf.VariableOptions{Name: "v"})
	next := v.AssignAdd(ops.Scalar(g, int32(2)))
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{&untilDone{left: 3}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for !s.ShouldStop() && err == nil {
		_, err = s.Run(ctx, nil, next)
	}
	out, _ := s.RawSession().Run(ctx, nil, v.Value())
	fmt.Println(out[0].At(0), s.CloseWith(err))
	// Output: 6 <nil>
}

// Three gradients, computed one after the other, make one update.
func ExampleAccumulate() {
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	w := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
	step := train.Accumulate{Optimizer: train.GradientDescent{LearningRate: 1}, Steps: 3}.Minimize(w.Value().Mul(x))
	s, err := session.New(g)
	if err == nil {
		_, err = s.Run(ctx, nil, tf.InitializeAll(g))
	}
	for i := 0; i < 3 && err == nil; i++ {
		_, err = s.Run(ctx, session.Feeds{x: tf.Scalar(float32(i))}, step)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(ctx, nil, w.Value())
	fmt.Println(out[0].At(0), err)
	// Output: -1 <nil>
}

// Training in an eager graph goes on where it was: Restore keeps the optimizer's slots until
// the first step makes them.
func ExampleSaver_Waiting() {
	dir, err := os.MkdirTemp("", "saver")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o := train.Momentum{LearningRate: 0.1, Momentum: 0.9}
	step := func(w *tf.Variable) {
		var loss tf.Output
		tape := eager.Record(w.Graph(), func() { loss = w.Value().Square().Sum() })
		gvs, err := train.TapeGradients(tape, loss)
		if err == nil {
			_, err = o.ApplyGradients(gvs)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	model := func() (*tf.Variable, *train.Saver) {
		g := eager.New()
		w := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "w"})
		saver, err := train.NewSaver(g, train.SaverOptions{})
		if err != nil {
			fmt.Println(err)
		}
		return w, saver
	}
	w, saver := model()
	step(w)
	path, err := saver.Save(context.Background(), nil, filepath.Join(dir, "model.ckpt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	step(w)
	fmt.Println(w.Value().Value())

	w, saver = model() // in another process, say
	fmt.Println(saver.Restore(context.Background(), nil, path), saver.Waiting())
	step(w)
	fmt.Println(saver.Waiting())
	fmt.Println(w.Value().Value())
	// Output:
	// float32[]{0.46} <nil>
	// <nil> [w/Momentum]
	// []
	// float32[]{0.46} <nil>
}
