package train_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/tf"
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
