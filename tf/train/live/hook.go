package live

import (
	"context"
	"io"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// A Hook shows the training of a train.MonitoredSession in a terminal.
type Hook struct {
	train.BaseHook
	Out  io.Writer // a terminal: see [IsTerminal]
	Loss tf.Output // a scalar of a floating-point type
	Options

	step *tf.Variable
	loss tf.Output
	view *View
}

// Begin checks the fields. The graph needs a global step.
func (h *Hook) Begin(g *tf.Graph) error {
	if h.Out == nil {
		return tf.Errorf(tf.InvalidArgument, "a live view needs a terminal to write to, got none")
	}
	if h.Loss.IsZero() || !h.Loss.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "a live view needs a loss of a floating-point type, got %v", h.Loss)
	}
	if h.step = train.GetGlobalStep(g); h.step == nil {
		return tf.Errorf(tf.FailedPrecondition, "a live view needs the global step, which the graph does not have")
	}
	h.loss, h.view = h.Loss.Cast(tf.Float64), New(h.Out, h.Options)
	return h.loss.Err()
}

// BeforeRun asks for the step and the loss.
func (h *Hook) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Fetches: []tf.Fetchable{h.step.Value(), h.loss}}, nil
}

// AfterRun shows them. The step that was fetched may be that before the update.
func (h *Hook) AfterRun(_ context.Context, _ *train.RunContext, v train.RunValues) error {
	step, ok := v.Results[0].At(0).(int64)
	loss, isLoss := v.Results[1].At(0).(float64)
	if !ok || !isLoss || v.Results[1].Len() != 1 {
		return tf.Errorf(tf.InvalidArgument, "a live view takes an int64 step and a scalar loss, got %v and %v", v.Results[0], v.Results[1])
	}
	return h.view.Step(step, loss)
}

// Close leaves the last picture.
func (h *Hook) Close() error {
	if h.view == nil {
		return nil
	}
	return h.view.Close()
}
