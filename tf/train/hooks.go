package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// A StopAtStepHook ends training after NumSteps steps, or when the global step is
// LastStep. Exactly one of them is set. It looks at the step after each step: a session
// that begins at LastStep, because its checkpoint is complete, runs one more, as
// TensorFlow's does.
type StopAtStepHook struct {
	BaseHook
	NumSteps, LastStep int64

	step *tf.Variable
	last int64
}

// Begin checks the fields.
func (h *StopAtStepHook) Begin(g *tf.Graph) (err error) {
	switch {
	case h.NumSteps == 0 && h.LastStep == 0:
		return tf.Errorf(tf.InvalidArgument, "One of num_steps or last_step must be specified.")
	case h.NumSteps != 0 && h.LastStep != 0:
		return tf.Errorf(tf.InvalidArgument, "Only one of num_steps or last_step can be specified.")
	case h.NumSteps < 0 || h.LastStep < 0:
		return tf.Errorf(tf.InvalidArgument, "a number of steps must not be negative, got num_steps=%d, last_step=%d", h.NumSteps, h.LastStep)
	}
	h.last = h.LastStep
	h.step, err = neededStep(g, "StopAtStepHook")
	return err
}

// AfterCreateSession reads from which step on NumSteps counts: from that of the
// first session.
func (h *StopAtStepHook) AfterCreateSession(ctx context.Context, s *session.Session, _ *Coordinator) error {
	if h.last != 0 {
		return nil
	}
	step, err := StepOf(ctx, s, h.step)
	if h.last = step + h.NumSteps; h.NumSteps > 0 && h.last < step {
		h.last = math.MaxInt64
	}
	return err
}

// BeforeRun asks for the step.
func (h *StopAtStepHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	return RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}, nil
}

// AfterRun stops. The step that was fetched may be that before the update.
func (h *StopAtStepHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	stale, err := stepIn(v.Results[0])
	if err != nil || stale+1 < h.last {
		return err
	}
	step, err := StepOf(ctx, r.Session, h.step)
	if err == nil && step >= h.last {
		r.RequestStop()
	}
	return err
}

// A LoggingTensorHook logs tensors in every EveryIter-th step, or after Every, or at
// the end.
type LoggingTensorHook struct {
	BaseHook
	Tensors []tf.Output
	Tags    []string // what they are called; their names if nil
	// Exactly one of EveryIter and Every is set, unless AtEnd is.
	EveryIter int64
	Every     time.Duration
	AtEnd     bool
	// Format makes the text, if given; values are those of Tensors.
	Format func(values []*tf.Tensor) string
	Logger *slog.Logger // nil: slog's default

	timer   SecondOrStepTimer
	never   bool
	iter    int64
	request bool
}

// Begin checks the fields.
func (h *LoggingTensorHook) Begin(g *tf.Graph) error {
	h.never = h.AtEnd && h.EveryIter == 0 && h.Every == 0
	switch {
	case !h.never && (h.EveryIter == 0) == (h.Every == 0):
		return tf.Errorf(tf.InvalidArgument, "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
	case h.EveryIter < 0:
		return tf.Errorf(tf.InvalidArgument, "invalid every_n_iter=%d.", h.EveryIter)
	case h.Every < 0:
		return tf.Errorf(tf.InvalidArgument, "a time must not be negative, got every_n_secs=%v", h.Every)
	case h.Tags != nil && len(h.Tags) != len(h.Tensors):
		return tf.Errorf(tf.InvalidArgument, "there must be a tag for each tensor: %d tensors, %d tags", len(h.Tensors), len(h.Tags))
	}
	for _, x := range h.Tensors {
		if x.Graph() != g {
			return tf.Errorf(tf.InvalidArgument, "Passed %s should have graph attribute that is equal to current graph.", x)
		}
	}
	h.timer, h.iter = SecondOrStepTimer{Every: h.Every, EverySteps: h.EveryIter}, 0
	return nil
}

func (h *LoggingTensorHook) fetches() (all []tf.Fetchable) {
	for _, x := range h.Tensors {
		all = append(all, x)
	}
	return all
}

// BeforeRun asks for the tensors if it is time.
func (h *LoggingTensorHook) BeforeRun(context.Context, *RunContext) (a RunArgs, err error) {
	if h.request = !h.never && h.timer.ShouldTrigger(h.iter); h.request {
		a.Fetches = h.fetches()
	}
	return a, nil
}

// AfterRun logs them.
func (h *LoggingTensorHook) AfterRun(_ context.Context, _ *RunContext, v RunValues) error {
	if h.request {
		h.log(v.Results)
	}
	h.iter++
	return nil
}

// End logs the tensors if that was asked for.
func (h *LoggingTensorHook) End(ctx context.Context, s *session.Session) error {
	if !h.AtEnd || len(h.Tensors) == 0 {
		return nil
	}
	out, err := s.Run(ctx, nil, h.fetches()...)
	if err == nil {
		h.log(out)
	}
	return err
}

func (h *LoggingTensorHook) log(values []*tf.Tensor) {
	elapsed, _, ok := h.timer.Update(h.iter)
	logger := h.Logger
	if logger == nil {
		logger = slog.Default()
	}
	if h.Format != nil {
		logger.Info(h.Format(values))
		return
	}
	parts := make([]string, len(values))
	for i, t := range values {
		tag := h.Tensors[i].Name()
		if h.Tags != nil {
			tag = h.Tags[i]
		}
		parts[i] = tag + " = " + plain(t)
	}
	text := strings.Join(parts, ", ")
	if ok {
		text += fmt.Sprintf(" (%.3f sec)", elapsed.Seconds())
	}
	logger.Info(text)
}

// plain writes a scalar as a number, other tensors as they print.
func plain(t *tf.Tensor) string {
	if t.Rank() == 0 {
		return fmt.Sprint(t.At(0))
	}
	return t.String()
}

// ErrNanLoss is the error of a [NanTensorHook].
var ErrNanLoss = errors.New("NaN loss during training.")

// A NanTensorHook ends training when a loss is not a number: with ErrNanLoss,
// with the tensor and the global step, or as after the last step if Stop is set.
type NanTensorHook struct {
	BaseHook
	Loss tf.Output // a scalar
	Stop bool

	step *tf.Variable
}

// Begin checks the fields.
func (h *NanTensorHook) Begin(g *tf.Graph) error {
	if err := h.Loss.Err(); err != nil && !h.Loss.IsZero() {
		return err
	}
	if h.Loss.IsZero() || !h.Loss.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "a NanTensorHook needs a loss of a floating-point type, got %v", h.Loss)
	}
	h.step = GetGlobalStep(g)
	return nil
}

// BeforeRun asks for the loss.
func (h *NanTensorHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	return RunArgs{Fetches: []tf.Fetchable{h.Loss}}, nil
}

// AfterRun looks at it.
func (h *NanTensorHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	if !hasNaN(v.Results[0]) {
		return nil
	}
	const message = "Model diverged with loss = NaN."
	where := "tensor " + h.Loss.Name() + h.after(ctx, r)
	if !h.Stop {
		slog.Error(message, "at", where)
		return fmt.Errorf("%w (%s)", ErrNanLoss, where)
	}
	slog.Warn(message, "at", where)
	r.RequestStop()
	return nil
}

// after says which step it is, if the program counts them.
func (h *NanTensorHook) after(ctx context.Context, r *RunContext) string {
	if h.step == nil || r.Session == nil {
		return ""
	}
	at, err := StepOf(ctx, r.Session, h.step)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", global step %d", at)
}

func hasNaN(t *tf.Tensor) bool {
	for i := range t.Len() {
		switch x := t.At(i).(type) {
		case float32:
			if x != x {
				return true
			}
		case float64:
			if math.IsNaN(x) {
				return true
			}
		case core.Half:
			if f := x.Float32(); f != f {
				return true
			}
		case core.BF16:
			if f := x.Float32(); f != f {
				return true
			}
		}
	}
	return false
}

// A GlobalStepWaiterHook lets a worker begin when the global step is WaitUntilStep:
// workers that begin one after the other disturb each other less.
type GlobalStepWaiterHook struct {
	BaseHook
	WaitUntilStep int64
	Poll          time.Duration // 0: half a second

	step    *tf.Variable
	started bool
}

// Begin checks the fields.
func (h *GlobalStepWaiterHook) Begin(g *tf.Graph) (err error) {
	h.started = false
	h.step, err = neededStep(g, "_GlobalStepWaiterHook")
	return err
}

// BeforeRun waits, the first time.
func (h *GlobalStepWaiterHook) BeforeRun(ctx context.Context, r *RunContext) (a RunArgs, err error) {
	if h.started {
		return a, nil
	}
	poll := h.Poll
	if poll <= 0 {
		poll = time.Second / 2
	}
	for h.WaitUntilStep > 0 {
		step, err := StepOf(ctx, r.Session, h.step)
		if err != nil {
			return a, err
		}
		if step >= h.WaitUntilStep {
			break
		}
		if !pause(ctx, poll) {
			return a, context.Cause(ctx)
		}
	}
	h.started = true
	return a, nil
}

// A FinalOpsHook runs operations at the end of training.
type FinalOpsHook struct {
	BaseHook
	FinalOps []tf.Fetchable
	Feeds    session.Feeds
	// Values are what they gave, after Close.
	Values []*tf.Tensor
}

// End runs them.
func (h *FinalOpsHook) End(ctx context.Context, s *session.Session) (err error) {
	if len(h.FinalOps) == 0 {
		return nil
	}
	if h.Values, err = s.Run(ctx, h.Feeds, h.FinalOps...); tf.CodeOf(err) == tf.OutOfRange {
		slog.Warn("The final operations have run out of input: they should depend on variables alone, not on another batch.")
	}
	return err
}

// A FeedFnHook feeds what Feed returns, in each step.
type FeedFnHook struct {
	BaseHook
	Feed func() (session.Feeds, error)
}

// BeforeRun calls Feed.
func (h *FeedFnHook) BeforeRun(context.Context, *RunContext) (a RunArgs, err error) {
	a.Feeds, err = h.Feed()
	return a, err
}
