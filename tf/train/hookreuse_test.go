package train_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

// trainedWith runs two steps of a new graph with a hook.
func trainedWith(t *testing.T, of func(g *tf.Graph) train.Hook) {
	t.Helper()
	g := tf.NewGraph()
	step := train.GlobalStep(g).AssignAdd(ops.Scalar(g, int64(1)))
	m := monitored(t, g, of(g))
	if err := m.Loop(t.Context(), func(ctx context.Context) error {
		for range 2 {
			if _, err := m.Run(ctx, nil, step); err != nil {
				return err
			}
		}
		return train.ErrStop
	}); err != nil {
		t.Error(err)
	}
}

// TestHooksAgain: a hook takes part in one session after the other, on a graph of its own
// each.
func TestHooksAgain(t *testing.T) {
	counter := &train.StepCounterHook{EverySteps: 1, OutputDir: t.TempDir()}
	saver := &train.CheckpointSaverHook{SaveSteps: 1, CheckpointDir: t.TempDir()}
	written := &train.SummarySaverHook{SaveSteps: 1, OutputDir: t.TempDir()}
	for range 2 {
		trainedWith(t, func(*tf.Graph) train.Hook { return counter })
		trainedWith(t, func(*tf.Graph) train.Hook { return saver })
		trainedWith(t, func(g *tf.Graph) train.Hook {
			written.SummaryOps = []tf.Output{summary.Scalar("x", ops.Scalar(g, float32(1)))}
			return written
		})
	}
	if latest, err := train.LatestCheckpoint(saver.CheckpointDir); err != nil || filepath.Base(latest) != "model.ckpt-2" {
		t.Error(latest, err)
	}
	if counter.Writer != nil || written.Writer != nil || saver.Saver != nil {
		t.Error("a hook must not change its fields")
	}
}
