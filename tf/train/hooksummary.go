package train

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/timeline"
)

// writerOf returns given, or the writer that all hooks of a directory have in
// common. A hook without both writes nothing.
func writerOf(given *summary.FileWriter, dir string) (*summary.FileWriter, func() error, error) {
	if given != nil || dir == "" {
		return given, func() error { return nil }, nil
	}
	return summary.Shared(dir)
}

// closing is a hook's hold on a writer.
type closing struct{ release func() error }

// Close gives up the event file.
func (c *closing) Close() error {
	if c.release == nil {
		return nil
	}
	return c.release()
}

// A SummarySaverHook writes summaries every SaveSteps steps or SaveEvery, and in
// the first step.
type SummarySaverHook struct {
	BaseHook
	closing
	// Exactly one of SaveEvery and SaveSteps is set.
	SaveEvery time.Duration
	SaveSteps int64
	// Writer, or one for OutputDir, has the events.
	OutputDir string
	Writer    *summary.FileWriter
	// Either Scaffold, whose SummaryOp counts, or SummaryOps is set: serialized
	// summaries, scalars.
	Scaffold   *Scaffold
	SummaryOps []tf.Output

	timer   SecondOrStepTimer
	step    *tf.Variable
	events  *summary.FileWriter
	begun   bool
	next    int64
	request bool
}

// Begin checks the fields.
func (h *SummarySaverHook) Begin(g *tf.Graph) error {
	if (h.Scaffold == nil) == (len(h.SummaryOps) == 0) {
		return tf.Errorf(tf.InvalidArgument, "Exactly one of scaffold or summary_op must be provided.")
	}
	h.timer, h.begun = SecondOrStepTimer{Every: h.SaveEvery, EverySteps: h.SaveSteps}, false
	err := h.timer.Check()
	if err == nil {
		h.step, err = neededStep(g, "SummarySaverHook")
	}
	if err == nil {
		h.events, h.release, err = writerOf(h.Writer, h.OutputDir)
	}
	return err
}

func (h *SummarySaverHook) ops() []tf.Output {
	if h.Scaffold == nil {
		return h.SummaryOps
	}
	if h.Scaffold.SummaryOp.IsZero() {
		return nil
	}
	return []tf.Output{h.Scaffold.SummaryOp}
}

// BeforeRun asks for the summaries if it is time.
func (h *SummarySaverHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	h.request = !h.begun || h.timer.ShouldTrigger(h.next)
	a := RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}
	if h.request {
		for _, x := range h.ops() {
			a.Fetches = append(a.Fetches, x)
		}
	}
	return a, nil
}

// AfterRun writes them.
func (h *SummarySaverHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	if h.events == nil {
		return nil
	}
	fetched, err := stepIn(v.Results[0])
	step := stepAfter(fetched, h.next-1)
	if err == nil && h.request {
		step, err = StepOf(ctx, r.Session, h.step)
	}
	if err != nil {
		return err
	}
	if !h.begun {
		if err := h.events.SessionLog(step, &pb.SessionLog{Status: pb.SessionLog_START}); err != nil {
			return err
		}
	}
	if h.request {
		h.timer.Update(step)
	}
	h.begun, h.next = true, step+1
	return h.write(step, v.Results[1:])
}

// stepAfter returns the step after a run in which a step was fetched, before the update
// or after it: no order is said. Before the run the step was before, as far as is known.
func stepAfter(fetched, before int64) int64 {
	if fetched > before {
		return fetched
	}
	return fetched + 1
}

func (h *SummarySaverHook) write(step int64, summaries []*tf.Tensor) error {
	for _, t := range summaries {
		values, err := tf.Values[string](t)
		if err != nil {
			return err
		}
		for _, s := range values {
			if err := h.events.Summary(step, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// End writes to the file what waits.
func (h *SummarySaverHook) End(context.Context, *session.Session) error {
	if h.events == nil {
		return nil
	}
	return h.events.Flush()
}

// A StepCounterHook logs how many steps are done in a second, and writes it to an
// event file, under the name of the global step and "/sec".
type StepCounterHook struct {
	BaseHook
	closing
	// EverySteps or Every says how often; 100 steps if neither is set.
	EverySteps int64
	Every      time.Duration
	// StepsPerRun is by how many a run advances the global step; 0: 1.
	StepsPerRun int64
	// Writer, or one for OutputDir, has the events; without both the rate is only
	// logged.
	OutputDir string
	Writer    *summary.FileWriter

	timer  SecondOrStepTimer
	step   *tf.Variable
	events *summary.FileWriter
	last   int64
	warns  int
	rare   bool // not every step is to increase the global step
}

// rareUpdates is a collection of graphs of which a step need not increase the global step.
const rareUpdates = "__rare_updates"

// Begin checks the fields.
func (h *StepCounterHook) Begin(g *tf.Graph) error {
	h.timer = SecondOrStepTimer{Every: h.Every, EverySteps: h.EverySteps}
	if h.Every == 0 && h.EverySteps == 0 {
		h.timer.EverySteps = 100
	}
	h.last, h.warns, h.rare = -1, 0, len(g.Collection(rareUpdates)) > 0
	if err := h.timer.Check(); err != nil && (h.Every < 0 || h.EverySteps < 0) {
		return err
	} else if err != nil {
		return tf.Errorf(tf.InvalidArgument, "exactly one of every_n_steps and every_n_secs should be provided.")
	}
	var err error
	if h.step, err = neededStep(g, "StepCounterHook"); err == nil {
		h.events, h.release, err = writerOf(h.Writer, h.OutputDir)
	}
	return err
}

// BeforeRun asks for the step.
func (h *StepCounterHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	return RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}, nil
}

// AfterRun counts.
func (h *StepCounterHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	stale, err := stepIn(v.Results[0])
	if err != nil {
		return err
	}
	if h.timer.ShouldTrigger(stale + max(1, h.StepsPerRun)) {
		if err := h.count(ctx, r.Session); err != nil {
			return err
		}
	}
	if stale == h.last && h.warns < 5 && !h.rare {
		h.warns++
		slog.Warn("It seems that global step (tf.train.get_global_step) has not been increased. You could increase it by "+
			"Options.GlobalStep of Minimize.", "step", stale)
	}
	h.last = stale
	return nil
}

func (h *StepCounterHook) count(ctx context.Context, s *session.Session) error {
	step, err := StepOf(ctx, s, h.step)
	if err != nil || !h.timer.ShouldTrigger(step) {
		return err
	}
	elapsed, steps, ok := h.timer.Update(step)
	if !ok || elapsed <= 0 {
		return nil
	}
	rate, tag := float64(steps)/elapsed.Seconds(), h.step.Name()+"/sec"
	slog.Info(fmt.Sprintf("%s: %g", tag, rate))
	if h.events == nil {
		return nil
	}
	return h.events.Scalar(step, tag, float32(rate))
}

// A ProfilerHook traces a step every SaveSteps steps or SaveEvery, and writes what
// it did to timeline-<step>.json, for Chrome, and to the event file.
type ProfilerHook struct {
	BaseHook
	closing
	// Exactly one of SaveEvery and SaveSteps is set.
	SaveEvery time.Duration
	SaveSteps int64
	OutputDir string
	Timeline  timeline.Options

	timer   SecondOrStepTimer
	step    *tf.Variable
	events  *summary.FileWriter
	begun   bool
	next    int64
	request bool
}

// Begin checks the fields.
func (h *ProfilerHook) Begin(g *tf.Graph) error {
	h.timer, h.begun = SecondOrStepTimer{Every: h.SaveEvery, EverySteps: h.SaveSteps}, false
	err := h.timer.Check()
	if err == nil {
		h.step, err = neededStep(g, "ProfilerHook")
	}
	if err == nil {
		dir := h.OutputDir
		if dir == "" {
			dir = "."
		}
		h.events, h.release, err = summary.Shared(dir)
	}
	return err
}

// BeforeRun asks for a trace if it is time.
func (h *ProfilerHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	h.request = h.begun && h.timer.ShouldTrigger(h.next)
	a := RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}
	if h.request {
		a.Options.Trace = session.FullTrace
	}
	return a, nil
}

// AfterRun writes it.
func (h *ProfilerHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	fetched, err := stepIn(v.Results[0])
	if err != nil {
		return err
	}
	if !h.begun {
		h.timer.Update(fetched)
		h.next = fetched + 1
	}
	step := stepAfter(fetched, h.next-1)
	if h.request {
		if step, err = StepOf(ctx, r.Session, h.step); err != nil {
			return err
		}
		h.timer.Update(step)
		err = h.save(step, v.Metadata)
	}
	h.begun, h.next = true, step+1
	return err
}

func (h *ProfilerHook) save(step int64, m *session.RunMetadata) error {
	name := core.LocalPath(inDir(h.OutputDir, fmt.Sprintf("timeline-%d.json", step)))
	slog.Info("Saving timeline", "step", step, "into", name)
	f, err := os.Create(name)
	if err != nil {
		return core.FileError(name, err)
	}
	err = timeline.Write(f, m, h.Timeline)
	if e := f.Close(); err == nil && e != nil {
		err = core.FileError(name, e)
	}
	if err != nil {
		return err
	}
	return h.events.RunMetadata(step, fmt.Sprintf("step_%d", step), m)
}
