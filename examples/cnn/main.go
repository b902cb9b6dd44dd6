// Command cnn trains a convolutional network that lasts: it reads TFRecord files,
// saves checkpoints with the model and the position in the input, and writes
// event files for TensorBoard. Kill it whenever you like: started again in the same
// directory, it goes on from the last checkpoint, and its losses are, bit for bit,
// those of a run that was not killed.
//
//	go run ./examples/cnn
//	go run ./examples/cnn -dir model -steps 1000 -async
//	tensorboard --logdir model
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/train/live"
)

// settings are what the flags say.
type settings struct {
	dir          string
	steps, saves int64
	batch        int
	quiet, async bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cnn:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s := &settings{}
	f := flag.NewFlagSet("cnn", flag.ContinueOnError)
	f.StringVar(&s.dir, "dir", "", "directory of the model, which is trained further if it exists; none: a temporary one")
	f.Int64Var(&s.steps, "steps", 300, "the step at which training ends")
	f.Int64Var(&s.saves, "save", 50, "steps between checkpoints")
	f.IntVar(&s.batch, "batch", 50, "images in a step")
	f.BoolVar(&s.async, "async", false, "write checkpoints while training goes on")
	f.BoolVar(&s.quiet, "quiet", false, "do not log")
	if err := f.Parse(args); err != nil {
		return err
	}
	if s.steps < 1 || s.saves < 1 || s.batch < 1 {
		return fmt.Errorf("steps, save and batch must be positive, got %d, %d and %d", s.steps, s.saves, s.batch)
	}
	if s.quiet {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "cnn")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	_, err := learn(ctx, s, out)
	return err
}

// learn trains and returns the share of test images that are read rightly then.
func learn(ctx context.Context, s *settings, out io.Writer) (float64, error) {
	training, test, err := digits.Load("")
	if err != nil {
		return 0, err
	}
	name := filepath.Join(s.dir, "train.tfrecord")
	if err := writeOnce(name, training); err != nil {
		return 0, err
	}
	in, err := openInput(name, training.Size, s.batch)
	if err != nil {
		return 0, err
	}
	defer in.close()
	m := newModel(training.Size)
	saver := train.NewInputSaver(m.g, "input", in.it)
	hooks := []train.Hook{&train.StopAtStepHook{LastStep: s.steps}, &train.NanTensorHook{Loss: m.loss}}
	lines := out // of steps
	if live.IsTerminal(out) {
		hooks = append(hooks, &live.Hook{Out: out, Loss: m.loss, Options: live.Options{LastStep: s.steps}})
		lines = io.Discard
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	ms, err := train.MonitoredTrainingSession(ctx, m.g, train.TrainingOptions{
		CheckpointDir: s.dir, SaveCheckpointSteps: s.saves, AsyncCheckpoints: s.async, SaveSummariesSteps: 20,
		ChiefHooks: []train.Hook{saver.Hook()}, Listeners: []train.CheckpointSaverListener{saver.Listener()},
		Hooks: hooks,
	})
	if err != nil {
		return 0, err
	}
	share := 0.0
	err = ms.Loop(ctx, func(ctx context.Context) error {
		// A run whose checkpoint is complete has no step to train: the hook only looks
		// after a step.
		over, err := isComplete(ctx, ms, m, s.steps)
		if err != nil {
			return err
		}
		if !over {
			if err := step(ctx, ms, m, in, lines); err != nil || !ms.ShouldStop() {
				return err
			}
		}
		if share, err = m.accuracy(ctx, ms.RawSession(), test); err != nil {
			return err
		}
		return train.ErrStop
	})
	if err == nil {
		fmt.Fprintf(out, "test accuracy %.1f %%; checkpoints and events are in %s\n", 100*share, s.dir)
	}
	return share, err
}

// isComplete reports whether the step has been reached.
func isComplete(ctx context.Context, ms *train.MonitoredSession, m *model, steps int64) (bool, error) {
	n, err := train.StepOf(ctx, ms.RawSession(), train.GetGlobalStep(m.g))
	return n >= steps, err
}

// step trains on one batch.
func step(ctx context.Context, ms *train.MonitoredSession, m *model, in *input, out io.Writer) error {
	return ms.RunStepFn(ctx, func(ctx context.Context, c *train.StepContext) error {
		e, err := in.next(ctx)
		if err != nil {
			return err
		}
		got, err := c.Run(ctx, session.Feeds{m.x: e[0], m.y: e[1]}, m.loss, m.after)
		if err == nil {
			_, err = fmt.Fprintf(out, "step %d loss %x\n", got[1].At(0), got[0].At(0))
		}
		return err
	})
}
