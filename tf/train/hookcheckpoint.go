package train

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/summary"
)

// A CheckpointSaverListener takes part in the saves of a [CheckpointSaverHook].
// Embed [BaseListener] to write those methods only that do something.
type CheckpointSaverListener interface {
	Begin(g *tf.Graph) error
	BeforeSave(ctx context.Context, s *session.Session, step int64) error
	// AfterSave reports whether training is to stop.
	AfterSave(ctx context.Context, s *session.Session, step int64) (stop bool, err error)
	End(ctx context.Context, s *session.Session, step int64) error
}

// A BaseListener is a CheckpointSaverListener that does nothing.
type BaseListener struct{}

// Begin does nothing.
func (BaseListener) Begin(*tf.Graph) error { return nil }

// BeforeSave does nothing.
func (BaseListener) BeforeSave(context.Context, *session.Session, int64) error { return nil }

// AfterSave goes on.
func (BaseListener) AfterSave(context.Context, *session.Session, int64) (bool, error) {
	return false, nil
}

// End does nothing.
func (BaseListener) End(context.Context, *session.Session, int64) error { return nil }

// A CheckpointSaverHook saves checkpoints: when a session is new, every SaveSteps
// steps or SaveEvery, and at the end. It also writes the graph.
//
// With Async, a save only takes the values of a step while training waits; they are
// written while it goes on. The next step after the end of the writing calls the
// listeners' AfterSave, and fails if the save has failed. A save that is due while
// another one is being written begins after that, in the first step then: it is not
// made if training ends by an error before. The last one, at the end, is synchronous. See [Saver.SaveAsync] for the memory that it takes.
type CheckpointSaverHook struct {
	BaseHook
	closing
	CheckpointDir string
	Basename      string // "model.ckpt" if empty
	// Exactly one of SaveEvery and SaveSteps is set.
	SaveEvery time.Duration
	SaveSteps int64
	// Saver or that of the Scaffold saves; without both, the only one of the
	// collection "savers".
	Saver      *Saver
	Scaffold   *Scaffold
	Listeners  []CheckpointSaverListener
	NoGraphDef bool // write neither graph.pbtxt nor MetaGraphs
	Async      bool // write while training goes on

	timer   SecondOrStepTimer
	step    *tf.Variable
	events  *summary.FileWriter
	found   *Saver       // in the graph, without Saver and Scaffold
	pending *PendingSave // of the step; nil: none
	saving  int64
	coord   *Coordinator // waits for pending before the session is closed
}

// Begin checks the fields.
func (h *CheckpointSaverHook) Begin(g *tf.Graph) error {
	if h.Saver != nil && h.Scaffold != nil {
		return tf.Errorf(tf.InvalidArgument, "You cannot provide both saver and scaffold.")
	}
	h.timer, h.found = SecondOrStepTimer{Every: h.SaveEvery, EverySteps: h.SaveSteps}, nil
	err := h.timer.Check()
	if err == nil {
		h.step, err = neededStep(g, "CheckpointSaverHook")
	}
	if err == nil {
		h.events, h.release, err = summary.Shared(h.CheckpointDir)
	}
	for _, l := range h.Listeners {
		if err == nil {
			err = l.Begin(g)
		}
	}
	return err
}

// neededStep returns the global step that a hook cannot do without.
func neededStep(g *tf.Graph, hook string) (*tf.Variable, error) {
	v := GetGlobalStep(g)
	if v == nil {
		return nil, tf.Errorf(tf.FailedPrecondition, "Global step should be created to use %s.", hook)
	}
	return v, checkGlobalStep(v)
}

// AfterCreateSession writes the graph and saves.
func (h *CheckpointSaverHook) AfterCreateSession(ctx context.Context, s *session.Session, c *Coordinator) error {
	h.coord = c
	h.abandon()
	step, err := StepOf(ctx, s, h.step)
	if err != nil {
		return err
	}
	if err := h.writeGraph(s.Graph()); err != nil {
		return err
	}
	if _, err := h.save(ctx, s, step, h.Async); err != nil {
		return err
	}
	h.timer.Update(step)
	return nil
}

// writeGraph writes the graph as text, and to the event file.
func (h *CheckpointSaverHook) writeGraph(g *tf.Graph) error {
	if !h.NoGraphDef {
		if err := WriteGraph(g, h.CheckpointDir, "graph.pbtxt"); err != nil {
			return err
		}
	}
	saver, err := h.saver(g)
	if err != nil {
		return err
	}
	m, err := g.MetaGraphProto(tf.MetaGraphOptions{Collections: []string{}})
	if err != nil {
		return err
	}
	if !saver.empty() {
		m.SaverDef = saver.Proto()
	}
	if err := h.events.Graph(g); err != nil {
		return err
	}
	return h.events.MetaGraph(m)
}

// WriteGraph writes a graph in text format to a file of a directory, which is
// made if need be.
func WriteGraph(g *tf.Graph, dir, name string) error {
	if g == nil {
		return noGraph("a file of a graph")
	}
	def, err := g.GraphProto(0)
	if err != nil {
		return err
	}
	text, err := prototext.MarshalOptions{Multiline: true}.Marshal(def)
	if err != nil {
		return err
	}
	dir = core.LocalPath(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return core.FileError(dir, err)
	}
	return bundle.WriteFile(filepath.Join(dir, name), text)
}

// BeforeRun asks for the step.
func (h *CheckpointSaverHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) {
	return RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}, nil
}

// AfterRun saves if it is time.
func (h *CheckpointSaverHook) AfterRun(ctx context.Context, r *RunContext, v RunValues) error {
	stop, err := h.collect(ctx, r.Session, false)
	if stop {
		r.RequestStop()
	}
	if err != nil || h.pending != nil {
		return err
	}
	stale, err := stepIn(v.Results[0])
	// The step that was fetched may be that before the update. Others may have
	// updated the model as well.
	const ahead = 1_000_000
	if err != nil || !h.timer.ShouldTrigger(stale+ahead) {
		return err
	}
	step, err := StepOf(ctx, r.Session, h.step)
	if err != nil || !h.timer.ShouldTrigger(step) {
		return err
	}
	h.timer.Update(step)
	if stop, err = h.save(ctx, r.Session, step, h.Async); stop {
		r.RequestStop()
	}
	return err
}

// End saves, unless the step has been saved. A save before it that has failed is
// reported, but does not keep the last one from being made.
func (h *CheckpointSaverHook) End(ctx context.Context, s *session.Session) error {
	_, failed := h.collect(ctx, s, true)
	if h.pending != nil {
		return failed // ctx has ended
	}
	err := h.end(ctx, s)
	if failed == nil {
		return err
	}
	return errors.Join(failed, err)
}

func (h *CheckpointSaverHook) end(ctx context.Context, s *session.Session) error {
	step, err := StepOf(ctx, s, h.step)
	if err != nil {
		return err
	}
	if last, ok := h.timer.LastTriggered(); !ok || last != step {
		if _, err := h.save(ctx, s, step, false); err != nil {
			return err
		}
	}
	for _, l := range h.Listeners {
		if err := l.End(ctx, s, step); err != nil {
			return err
		}
	}
	return nil
}

func (h *CheckpointSaverHook) save(ctx context.Context, s *session.Session, step int64, async bool) (stop bool, err error) {
	for _, l := range h.Listeners {
		if err := l.BeforeSave(ctx, s, step); err != nil {
			return false, err
		}
	}
	slog.Info("Saving checkpoints", "step", step, "into", h.path())
	saver, err := h.saver(s.Graph())
	if err != nil {
		return false, err
	}
	o := SaveOptions{NoMetaGraph: h.NoGraphDef}
	if async {
		return false, h.saveAside(ctx, saver, s, step, o)
	}
	if _, err := saver.SaveStep(ctx, s, h.path(), step, o); err != nil {
		return false, err
	}
	return h.saved(ctx, s, step)
}

// path is what the names of checkpoints begin with.
func (h *CheckpointSaverHook) path() string {
	name := h.Basename
	if name == "" {
		name = "model.ckpt"
	}
	return inDir(h.CheckpointDir, name)
}

// saved tells of a checkpoint that is complete.
func (h *CheckpointSaverHook) saved(ctx context.Context, s *session.Session, step int64) (stop bool, err error) {
	if err := h.events.SessionLog(step, &pb.SessionLog{Status: pb.SessionLog_CHECKPOINT, CheckpointPath: h.path()}); err != nil {
		return false, err
	}
	for _, l := range h.Listeners {
		enough, err := l.AfterSave(ctx, s, step)
		if err != nil {
			return stop, err
		}
		stop = stop || enough
	}
	return stop, nil
}

// saver finds what saves.
func (h *CheckpointSaverHook) saver(g *tf.Graph) (*Saver, error) {
	switch {
	case h.Saver != nil:
		return h.Saver, nil
	case h.Scaffold != nil && h.Scaffold.Saver != nil:
		return h.Scaffold.Saver, nil
	case h.found != nil:
		return h.found, nil
	}
	all := g.Collection(Savers)
	if len(all) > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "More than one item in collection %s. Please indicate which one to use by passing it to the constructor.", Savers)
	}
	if len(all) == 1 {
		if s, ok := all[0].(*Saver); ok {
			h.found = s
			return s, nil
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "No items in collection %s. Please add a saver to the collection or provide a saver or scaffold.", Savers)
}
