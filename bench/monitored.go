package main

import (
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// monitored is workload 20: what a MonitoredTrainingSession with its usual hooks adds to
// a step, beyond what the same step takes in a session.
func monitored(b *bench) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard)
	folder := must(os.MkdirTemp("", "bench"))
	defer os.RemoveAll(folder)
	plain := func() float64 {
		g, op, _ := smallStep()
		s := b.open(g, false)
		defer s.Close()
		must(s.Run(ctx, nil, tf.InitializeAll(g)))
		return b.bestAuto(func() { must(s.Run(ctx, nil, op)) })
	}()
	g, op, loss := smallStep()
	m := must(train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
		CheckpointDir: folder, SaveCheckpointSteps: 1 << 40, SaveSummariesSteps: 1 << 40, LogStepCountSteps: 1 << 40,
		Session: []session.Option{session.Threads(b.threads)},
		Hooks:   []train.Hook{&train.StopAtStepHook{LastStep: 1 << 40}, &train.NanTensorHook{Loss: loss}},
	}))
	more := b.bestAuto(func() { must(m.Run(ctx, nil, op)) })
	out := must(m.Run(ctx, nil, loss))
	must(0, m.Close())
	b.emit("plain_us", plain*1e6, "us")
	b.emit("monitored_us", more*1e6, "us")
	b.emit("added_us", (more-plain)*1e6, "us")
	b.check("loss", float64(out[0].At(0).(float32)), nil)
}

// smallStep is a step that does next to nothing: it moves one weight to 5.
func smallStep() (g *tf.Graph, op *tf.Operation, loss tf.Output) {
	g = tf.NewGraph()
	w := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "w"})
	loss = w.Value().Sub(float32(5)).Square()
	summary.Scalar("loss", loss)
	op = train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})
	return g, op, loss
}
