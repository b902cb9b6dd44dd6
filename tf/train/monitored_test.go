package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// counting is a graph whose step adds 1 to the global step.
func counting() (*tf.Graph, *tf.Variable, *tf.Operation) {
	g := tf.NewGraph()
	step := train.GetOrCreateGlobalStep(g)
	return g, step, step.AssignAdd(ops.Scalar(g, int64(1)))
}

// spy notes the calls of a hook, and does in them what it is told.
type spy struct {
	name  string
	calls *[]string
	fetch []tf.Fetchable
	feeds session.Feeds
	on    map[string]func(r *train.RunContext) error
	got   [][]*tf.Tensor
}

func (h *spy) call(what string, r *train.RunContext) error {
	*h.calls = append(*h.calls, h.name+" "+what)
	if f := h.on[what]; f != nil {
		return f(r)
	}
	return nil
}

func (h *spy) Begin(*tf.Graph) error { return h.call("begin", nil) }

func (h *spy) AfterCreateSession(context.Context, *session.Session, *train.Coordinator) error {
	return h.call("created", nil)
}

func (h *spy) BeforeRun(_ context.Context, r *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Fetches: h.fetch, Feeds: h.feeds}, h.call("before", r)
}

func (h *spy) AfterRun(_ context.Context, r *train.RunContext, v train.RunValues) error {
	h.got = append(h.got, v.Results)
	return h.call("after", r)
}

func (h *spy) End(context.Context, *session.Session) error { return h.call("end", nil) }

func (h *spy) Close() error { return h.call("close", nil) }

// monitored begins a session with hooks.
func monitored(t *testing.T, g *tf.Graph, hooks ...train.Hook) *train.MonitoredSession {
	t.Helper()
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHookOrder is about the order of calls in TensorFlow.
func TestHookOrder(t *testing.T) {
	g, step, next := counting()
	var calls []string
	a := &spy{name: "a", calls: &calls, fetch: []tf.Fetchable{step.Handle().Operation()}}
	b := &spy{name: "b", calls: &calls, fetch: []tf.Fetchable{ops.Scalar(g, "x"), ops.Scalar(g, float32(2))}}
	m := monitored(t, g, a, b)
	out, err := m.Run(t.Context(), nil, next, ops.Scalar(g, int32(7)))
	if err != nil || len(out) != 2 || out[1].At(0) != int32(7) {
		t.Fatal(out, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"a begin", "b begin", "a created", "b created", "a before", "b before", "a after", "b after", "a end", "b end", "a close", "b close"}
	if !slices.Equal(calls, want) {
		t.Errorf("%v, want %v", calls, want)
	}
	if len(a.got[0]) != 1 || a.got[0][0] != nil || b.got[0][0].At(0) != "x" || b.got[0][1].At(0) != float32(2) {
		t.Error(a.got, b.got)
	}
	if !m.ShouldStop() {
		t.Error("a closed session should stop")
	}
	if _, err := m.Run(t.Context(), nil, next); !says(err, tf.FailedPrecondition, "Session is already closed.") {
		t.Error(err)
	}
}

// TestRecovery has TensorFlow's table of which errors make a new session: lost
// tasks do, in each of the calls.
func TestRecovery(t *testing.T) {
	for _, code := range []tf.Code{tf.Aborted, tf.Unavailable, tf.Internal, tf.OutOfRange, tf.InvalidArgument} {
		for _, where := range []string{"created", "before", "after"} {
			t.Run(fmt.Sprint(code, " ", where), func(t *testing.T) {
				g, step, next := counting()
				left := 2
				var calls []string
				h := &spy{name: "h", calls: &calls, on: map[string]func(*train.RunContext) error{where: func(*train.RunContext) error {
					if left--; left >= 0 {
						return tf.Errorf(code, "injected")
					}
					return nil
				}}}
				m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}})
				if err == nil {
					_, err = m.Run(t.Context(), nil, next)
				}
				heals := code == tf.Aborted || code == tf.Unavailable
				if (err == nil) != heals || err != nil && tf.CodeOf(err) != code {
					t.Fatal(err)
				}
				if err == nil {
					at, err := train.StepOf(t.Context(), m.RawSession(), step)
					if err != nil || at != 1 { // each session began anew
						t.Error(at, err)
					}
				}
				if n := strings.Count(strings.Join(calls, " "), "created"); heals != (n == 3) {
					t.Error("sessions made:", n)
				}
				if m != nil {
					m.CloseWith(err)
				}
				if ended := slices.Contains(calls, "h end"); ended != (heals || m != nil && code == tf.OutOfRange) {
					t.Error(calls)
				}
				if calls[len(calls)-1] != "h close" {
					t.Error(calls)
				}
			})
		}
	}
}

// TestSingular does not recover.
func TestSingular(t *testing.T) {
	g, _, next := counting()
	var calls []string
	h := &spy{name: "h", calls: &calls, on: map[string]func(*train.RunContext) error{"before": func(*train.RunContext) error { return tf.Errorf(tf.Aborted, "injected") }}}
	m, err := train.SingularMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Run(t.Context(), nil, next)
	if tf.CodeOf(err) != tf.Aborted || tf.CodeOf(m.CloseWith(err)) != tf.Aborted {
		t.Error(err)
	}
}

// TestStopping: by a hook, by the coordinator, by the input's end.
func TestStopping(t *testing.T) {
	g, step, next := counting()
	m := monitored(t, g, &train.StopAtStepHook{LastStep: 3})
	runs := 0
	err := m.Loop(t.Context(), func(ctx context.Context) error {
		runs++
		_, err := m.Run(ctx, nil, next)
		return err
	})
	if err != nil || runs != 3 {
		t.Error(runs, err)
	}
	var coord *train.Coordinator
	c := &catcher{f: func(c *train.Coordinator) { coord = c }}
	m = monitored(t, g, c, &train.StopAtStepHook{NumSteps: 2})
	if _, err := m.Run(t.Context(), nil, next); err != nil || m.ShouldStop() {
		t.Fatal(err)
	}
	coord.RequestStop(nil)
	if !m.ShouldStop() || m.Close() != nil {
		t.Error("the coordinator has stopped")
	}
	m = monitored(t, g)
	if err := m.Loop(t.Context(), func(context.Context) error { return tf.Errorf(tf.OutOfRange, "end of input") }); err != nil {
		t.Error(err)
	}
	m = monitored(t, g, &train.StopAtStepHook{LastStep: 1})
	if _, err := m.Run(t.Context(), nil, next); err != nil || !m.ShouldStop() {
		t.Error(err)
	}
	if _, err := m.Run(t.Context(), nil, step.Value()); !says(err, tf.FailedPrecondition, "Run called even after should_stop requested.") {
		t.Error(err)
	}
	m.Close()
}

// catcher hands out the coordinator.
type catcher struct {
	train.BaseHook
	f func(*train.Coordinator)
}

func (c *catcher) AfterCreateSession(_ context.Context, _ *session.Session, coord *train.Coordinator) error {
	c.f(coord)
	return nil
}

// TestCoordinatorLosesTask: what a goroutine of the coordinator met counts as an
// error of the step, or makes a new session.
func TestCoordinatorLosesTask(t *testing.T) {
	for _, code := range []tf.Code{tf.Aborted, tf.Internal} {
		g, _, next := counting()
		sessions := 0
		m := monitored(t, g, &catcher{f: func(c *train.Coordinator) {
			if sessions++; sessions == 1 {
				c.Go(func(context.Context) error { return tf.Errorf(code, "injected") })
				c.WaitForStop(context.Background())
			}
		}})
		if stop := m.ShouldStop(); stop != (code == tf.Internal) {
			t.Error(code, stop)
		}
		if code == tf.Aborted {
			if _, err := m.Run(t.Context(), nil, next); err != nil || sessions != 2 {
				t.Error(sessions, err)
			}
		}
		if err := m.Close(); (tf.CodeOf(err) == tf.Internal) != (code == tf.Internal) {
			t.Error(err)
		}
	}
}

// TestQueueRunnersInMonitored: a queue's end is a good end.
func TestQueueRunnersInMonitored(t *testing.T) {
	g, _, next := counting()
	q := train.InputProducer(ops.Const(g, []int32{1, 2, 3}), train.ProducerOptions{Epochs: 2, InOrder: true})
	x := q.Dequeue()[0]
	m := monitored(t, g)
	var got []int32
	err := m.Loop(t.Context(), func(ctx context.Context) error {
		out, err := m.Run(ctx, nil, x, next)
		if err == nil {
			got = append(got, out[0].At(0).(int32))
		}
		return err
	})
	if err != nil || !slices.Equal(got, []int32{1, 2, 3, 1, 2, 3}) {
		t.Error(got, err)
	}
}

// TestFeedsOfHooks: feeds of hooks and the program must differ.
func TestFeedsOfHooks(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
	sum := x.Add(y)
	var calls []string
	feed := func(x tf.Output, v float32) session.Feeds { return session.Feeds{x: tf.Scalar(v)} }
	m := monitored(t, g, &spy{name: "a", calls: &calls, feeds: feed(x, 1)}, &train.FeedFnHook{Feed: func() (session.Feeds, error) { return nil, nil }})
	if out, err := m.Run(t.Context(), feed(y, 2), sum); err != nil || out[0].At(0) != float32(3) {
		t.Error(out, err)
	}
	if _, err := m.Run(t.Context(), feed(x, 2), sum); !says(err, tf.InvalidArgument, "Same tensor is fed by a SessionRunHook and user. Conflict(s): ") {
		t.Error(err)
	}
	m.Close()
	m = monitored(t, g, &spy{name: "a", calls: &calls, feeds: feed(x, 1)}, &spy{name: "b", calls: &calls, feeds: feed(x, 1)})
	if _, err := m.Run(t.Context(), feed(y, 2), sum); !says(err, tf.InvalidArgument, "Same tensor is fed by two hooks. Conflict(s): ") {
		t.Error(err)
	}
	m.Close()
}

// TestRunStepFn runs steps with and without hooks, and recovers.
func TestRunStepFn(t *testing.T) {
	g, step, next := counting()
	var calls []string
	h := &spy{name: "h", calls: &calls}
	m := monitored(t, g, h)
	tries := 0
	err := m.RunStepFn(t.Context(), func(ctx context.Context, c *train.StepContext) error {
		if _, err := c.Session.Run(ctx, nil, next); err != nil {
			return err
		}
		if tries++; tries < 3 {
			return tf.Errorf(tf.Aborted, "injected")
		}
		if _, err := c.Run(ctx, nil, next); err != nil {
			return err
		}
		return train.ErrStop
	})
	if !errors.Is(err, train.ErrStop) || tries != 3 {
		t.Fatal(tries, err)
	}
	if at, err := train.StepOf(t.Context(), m.RawSession(), step); err != nil || at != 2 {
		t.Error(at, err)
	}
	if n := strings.Count(strings.Join(calls, " "), "before"); n != 1 {
		t.Error(calls)
	}
	if err := m.CloseWith(err); err != nil {
		t.Error(err)
	}
}

// TestTrainingResumes: the next session goes on where the last one ended, also if
// that was lost in the middle.
func TestTrainingResumes(t *testing.T) {
	dir := t.TempDir()
	for _, last := range []int64{10, 25} {
		g, _, next := counting()
		var calls []string
		left := 1
		lose := &spy{name: "l", calls: &calls, on: map[string]func(*train.RunContext) error{"after": func(r *train.RunContext) error {
			if len(calls) == 10 {
				if left--; left == 0 {
					return tf.Errorf(tf.Unavailable, "injected")
				}
			}
			return nil
		}}}
		m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
			CheckpointDir: dir, SaveCheckpointSteps: 4, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: last}, lose},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Loop(t.Context(), func(ctx context.Context) error { _, err := m.Run(ctx, nil, next); return err }); err != nil {
			t.Fatal(err)
		}
		latest, err := train.LatestCheckpoint(dir, "")
		if err != nil || latest != filepath.Join(dir, fmt.Sprintf("model.ckpt-%d", last)) {
			t.Error(latest, err)
		}
		v, err := train.LoadVariable(dir, "global_step")
		if err != nil || v.At(0) != last {
			t.Error(v, err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "graph.pbtxt") }) {
		t.Error(files)
	}
}

// TestScaffoldParts: what the program sets stays, what collections have is
// used, more than one is refused.
func TestScaffoldParts(t *testing.T) {
	g, _, _ := counting()
	init := tf.Group(g, "mine")
	g.AddToCollection(train.InitOpCollection, init)
	sc := &train.Scaffold{}
	if err := sc.Finalize(g); err != nil || sc.InitOp != init || sc.LocalInitOp == nil || sc.ReadyOp.IsZero() || sc.Saver == nil {
		t.Error(sc, err)
	}
	before := len(g.Operations())
	again := &train.Scaffold{}
	if err := again.Finalize(g); err != nil || len(g.Operations()) != before || again.Saver != sc.Saver {
		t.Error("a second scaffold adds nothing:", err)
	}
	g.AddToCollection(train.InitOpCollection, init)
	if err := (&train.Scaffold{}).Finalize(g); !says(err, tf.InvalidArgument, "More than one item in the collection \"init_op\"") {
		t.Error(err)
	}
	m := tf.NewGraph()
	if err := (&train.Scaffold{}).Finalize(m); err != nil {
		t.Error("a graph without variables:", err)
	}
}

// TestSessionManager has the cases of TensorFlow's session_manager_test.
func TestSessionManager(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, int32(1)), tf.VariableOptions{Name: "v"})
	w := tf.NewVariable(v.Read(), tf.VariableOptions{Name: "w", Local: true})
	saver := newSaver(t, g, train.SaverOptions{})
	ready, readyLocal := ops.Where(v.IsInitialized().Not().Reshape(1)), tf.Output{}
	_ = ready
	sc := &train.Scaffold{Saver: saver}
	if err := sc.Finalize(g); err != nil {
		t.Fatal(err)
	}
	sm := &train.SessionManager{Graph: g, LocalInitOp: sc.LocalInitOp, ReadyOp: sc.ReadyOp, ReadyForLocalInitOp: sc.ReadyForLocalInitOp, RecoveryWait: time.Millisecond}
	_ = readyLocal
	s, err := sm.PrepareSession(t.Context(), train.PrepareOptions{InitOp: sc.InitOp, Saver: saver})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Run(t.Context(), nil, w.Value()); err != nil || out[0].At(0) != int32(1) {
		t.Error(out, err)
	}
	dir := t.TempDir()
	if _, err := s.Run(t.Context(), nil, v.Assign(ops.Scalar(g, int32(5)))); err != nil {
		t.Fatal(err)
	}
	if _, err := saver.SaveStep(t.Context(), s, filepath.Join(dir, "m"), 3); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := sm.PrepareSession(t.Context(), train.PrepareOptions{InitFn: func(context.Context, *session.Session) error { return nil }}); !says(err, tf.FailedPrecondition, "Init operations did not make model ready for local_init.", "Variables not initialized: v") {
		t.Error(err)
	}
	bare := &train.SessionManager{Graph: g, ReadyOp: sc.ReadyOp}
	if _, err := bare.PrepareSession(t.Context(), train.PrepareOptions{}); !says(err, tf.FailedPrecondition, "Model is not initialized and no init_op or init_fn or local_init_op was given") {
		t.Error(err)
	}
	if _, err := bare.PrepareSession(t.Context(), train.PrepareOptions{InitOp: sc.InitOp}); !says(err, tf.FailedPrecondition, "Init operations did not make model ready.", "Variables not initialized: w") {
		t.Error(err)
	}
	wrong := &train.SessionManager{Graph: g, ReadyForLocalInitOp: sc.ReadyOp}
	if _, err := wrong.PrepareSession(t.Context(), train.PrepareOptions{}); !says(err, tf.InvalidArgument, "If you pass a ready_for_local_init_op you must also pass a local_init_op") {
		t.Error(err)
	}
	if _, err := sm.PrepareSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: dir, CheckpointPath: dir}); !says(err, tf.InvalidArgument, "Can not provide both checkpoint_dir and checkpoint_filename_with_path.") {
		t.Error(err)
	}
	for _, o := range []train.PrepareOptions{{CheckpointDir: dir}, {CheckpointPath: filepath.Join(dir, "m-3")}} {
		o.Saver = saver
		s, ok, err := sm.RecoverSession(t.Context(), o)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if out, err := s.Run(t.Context(), nil, w.Value()); err != nil || out[0].At(0) != int32(5) {
			t.Error(out, err)
		}
		s.Close()
	}
	s, ok, err := sm.RecoverSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: t.TempDir()})
	if err != nil || ok {
		t.Error(ok, err)
	}
	s.Close()
	if _, err := sm.WaitForSession(t.Context(), 20*time.Millisecond); !says(err, tf.DeadlineExceeded, "Session was not ready after waiting") {
		t.Error(err)
	}
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := sm.WaitForSession(late, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	empty := t.TempDir()
	done := make(chan error, 1)
	go func() {
		time.Sleep(30 * time.Millisecond)
		state := train.CheckpointState{Latest: filepath.Join(dir, "m-3")}
		done <- state.Write(empty, "")
	}()
	s, err = sm.PrepareSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: empty, WaitForCheckpoint: true})
	if e := <-done; err != nil || e != nil {
		t.Fatal(err, e)
	}
	s.Close()
}

// TestHooksRefuse has what hooks say of wrong fields.
func TestHooksRefuse(t *testing.T) {
	g, step, _ := counting()
	x := ops.Scalar(g, "s")
	for words, h := range map[string]train.Hook{
		"One of num_steps or last_step must be specified.":       &train.StopAtStepHook{},
		"Only one of num_steps or last_step can be specified.":   &train.StopAtStepHook{NumSteps: 1, LastStep: 1},
		"You cannot provide both saver and scaffold.":            &train.CheckpointSaverHook{Saver: &train.Saver{}, Scaffold: &train.Scaffold{}},
		"Either every_secs or every_steps should be provided.":   &train.CheckpointSaverHook{},
		"Can not provide both every_secs and every_steps.":       &train.SummarySaverHook{SaveSteps: 1, SaveEvery: 1, SummaryOps: []tf.Output{x}},
		"Exactly one of scaffold or summary_op must be provided": &train.SummarySaverHook{SaveSteps: 1},
		"exactly one of every_n_steps and every_n_secs":          &train.StepCounterHook{EverySteps: 1, Every: 1},
		"either at_end and/or exactly one of":                    &train.LoggingTensorHook{},
		"invalid every_n_iter=-1.":                               &train.LoggingTensorHook{EveryIter: -1},
		"a tag for each tensor":                                  &train.LoggingTensorHook{EveryIter: 1, Tags: []string{"a"}},
		"a loss of a floating-point type":                        &train.NanTensorHook{Loss: step.Value()},
	} {
		if _, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}}); !says(err, tf.InvalidArgument, words) {
			t.Errorf("%T: %v, want %s", h, err, words)
		}
	}
	none := tf.NewGraph()
	for _, h := range []train.Hook{
		&train.StopAtStepHook{LastStep: 1}, &train.CheckpointSaverHook{SaveSteps: 1}, &train.StepCounterHook{}, &train.GlobalStepWaiterHook{},
		&train.SummarySaverHook{SaveSteps: 1, SummaryOps: []tf.Output{x}}, &train.ProfilerHook{SaveSteps: 1},
	} {
		if err := h.Begin(none); !says(err, tf.FailedPrecondition, "Global step should be created to use") {
			t.Errorf("%T: %v", h, err)
		}
	}
}

// TestNan ends with an error, or like a last step.
func TestNan(t *testing.T) {
	for _, stop := range []bool{false, true} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{})
		loss := x.Mul(2)
		m := monitored(t, g, &train.NanTensorHook{Loss: loss, Stop: stop})
		if _, err := m.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, loss); err != nil || m.ShouldStop() {
			t.Fatal(err)
		}
		_, err := m.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(math.NaN()))}, loss)
		if errors.Is(err, train.ErrNanLoss) == stop || m.ShouldStop() != stop {
			t.Error(stop, err)
		}
		m.CloseWith(err)
	}
}

// TestOtherHooks runs those that wait, log, count and end.
func TestOtherHooks(t *testing.T) {
	dir := t.TempDir()
	g, step, next := counting()
	var lines []string
	log := &train.LoggingTensorHook{Tensors: []tf.Output{step.Value()}, EveryIter: 2, AtEnd: true, Format: func(v []*tf.Tensor) string {
		lines = append(lines, fmt.Sprint(v[0].At(0)))
		return "step"
	}}
	final := &train.FinalOpsHook{FinalOps: []tf.Fetchable{step.Value()}}
	prof := &train.ProfilerHook{SaveSteps: 2, OutputDir: dir}
	m := monitored(t, g, log, final, prof, &train.StepCounterHook{EverySteps: 2, OutputDir: dir}, &train.GlobalStepWaiterHook{})
	for range 5 {
		if _, err := m.Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 4 || lines[3] != "5" || final.Values[0].At(0) != int64(5) {
		t.Error(lines, final.Values)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "timeline-*.json")); len(files) != 2 {
		t.Error(files)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "events.*")); len(files) != 1 {
		t.Error(files)
	}
}

// TestWaiter waits for another worker's steps, and not longer than its context.
func TestWaiter(t *testing.T) {
	g, _, next := counting()
	m := monitored(t, g, &train.GlobalStepWaiterHook{WaitUntilStep: 3, Poll: time.Millisecond})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Run(short, nil, next); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for range 3 {
		if _, err := m.RawSession().Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Run(t.Context(), nil, next); err != nil {
		t.Error(err)
	}
	m.Close()
}

// TestSaverListeners are called around each save, and can stop training.
func TestSaverListeners(t *testing.T) {
	g, _, next := counting()
	var calls []string
	l := &listener{calls: &calls, stopAt: 4}
	h := &train.CheckpointSaverHook{CheckpointDir: t.TempDir(), SaveSteps: 2, Listeners: []train.CheckpointSaverListener{l}}
	m := monitored(t, g, h)
	if err := m.Loop(t.Context(), func(ctx context.Context) error { _, err := m.Run(ctx, nil, next); return err }); err != nil {
		t.Fatal(err)
	}
	want := []string{"begin", "before 0", "after 0", "before 2", "after 2", "before 4", "after 4", "end 4"}
	if !slices.Equal(calls, want) {
		t.Errorf("%v, want %v", calls, want)
	}
}

type listener struct {
	calls  *[]string
	stopAt int64
}

func (l *listener) note(format string, a ...any) error {
	*l.calls = append(*l.calls, fmt.Sprintf(format, a...))
	return nil
}

func (l *listener) Begin(*tf.Graph) error { return l.note("begin") }

func (l *listener) BeforeSave(_ context.Context, _ *session.Session, step int64) error {
	return l.note("before %d", step)
}

func (l *listener) AfterSave(_ context.Context, _ *session.Session, step int64) (bool, error) {
	return step == l.stopAt, l.note("after %d", step)
}

func (l *listener) End(_ context.Context, _ *session.Session, step int64) error {
	return l.note("end %d", step)
}
