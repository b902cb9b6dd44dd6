package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// The tests of this file have cases of TensorFlow's monitored_session_test and
// session_manager_test: docs/ported-tests.md says which.

// TestMonitoredTraining trains so many steps with some options, half a second each, and
// then looks at what another session begins with.
func TestMonitoredTraining(t *testing.T) {
	for name, c := range map[string]struct {
		o     train.TrainingOptions
		steps int
		again int64    // the step of the next session
		tags  []string // of event files
	}{
		"restored":        {train.TrainingOptions{}, 2, 2, nil},
		"steps":           {train.TrainingOptions{SaveCheckpointSteps: 100, LogStepCountSteps: 10}, 100, 100, []string{"global_step/sec="}},
		"seconds":         {train.TrainingOptions{SaveCheckpointEvery: time.Second, LogStepCountSteps: 10}, 11, 11, nil},
		"own saving":      {train.TrainingOptions{SaveCheckpointSteps: -1, SaveCheckpointEvery: -1}, 2, 0, nil},
		"summary steps":   {train.TrainingOptions{SaveSummariesSteps: 100, LogStepCountSteps: 10}, 101, 101, []string{"tag=", "global_step/sec="}},
		"summary seconds": {train.TrainingOptions{SaveSummariesEvery: time.Second, LogStepCountSteps: 10}, 101, 101, []string{"tag=", "global_step/sec="}},
		"no summaries":    {train.TrainingOptions{SaveSummariesSteps: -1, SaveSummariesEvery: -1, LogStepCountSteps: -1}, 3, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				g, step, next := counting()
				summary.Scalar("tag", step.Read().Cast(tf.Float32))
				c.o.CheckpointDir = t.TempDir()
				var calls []string
				c.o.ChiefHooks = []train.Hook{&spy{name: "h", calls: &calls}}
				m, err := train.MonitoredTrainingSession(t.Context(), g, c.o)
				if err != nil {
					t.Fatal(err)
				}
				for range c.steps {
					if _, err := m.Run(t.Context(), nil, next); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second / 2)
				}
				if err := m.Close(); err != nil || calls[0] != "h begin" {
					t.Fatal(err, calls)
				}
				text := strings.Join(slices.Concat(eventsIn(t, c.o.CheckpointDir)...), "\n")
				for _, tag := range c.tags {
					if !strings.Contains(text, tag) {
						t.Errorf("events lack %s: %s", tag, text)
					}
				}
				if name == "no summaries" && strings.Contains(text, "=") {
					t.Error("there are summaries:", text)
				}
				again, step, _ := counting()
				m, err = train.MonitoredTrainingSession(t.Context(), again, train.TrainingOptions{CheckpointDir: c.o.CheckpointDir})
				if err != nil {
					t.Fatal(err)
				}
				if at, err := train.StepOf(t.Context(), m.RawSession(), step); err != nil || at != c.again {
					t.Errorf("another session begins with %d, %v, want %d", at, err, c.again)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestWorkerHooks: a worker has neither the chief's hooks nor those that save and
// summarize.
func TestWorkerHooks(t *testing.T) {
	tm := newTeam(t, 1)
	dir := t.TempDir()
	for _, worker := range []bool{false, true} {
		g, _, next := counting()
		var calls, chief []string
		m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
			Target: tm.target(0), Worker: worker, CheckpointDir: filepath.Join(dir, map[bool]string{true: "worker", false: "chief"}[worker]),
			Hooks: []train.Hook{&spy{name: "h", calls: &calls}}, ChiefHooks: []train.Hook{&spy{name: "c", calls: &chief}}, RecoveryWait: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil || len(calls) == 0 || (len(chief) == 0) != worker {
			t.Error(worker, err, calls, chief)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "worker", "checkpoint")); err == nil {
		t.Error("a worker has saved")
	}
	if _, err := os.Stat(filepath.Join(dir, "chief", "checkpoint")); err != nil {
		t.Error(err)
	}
}

// TestWholeOfASession: properties, closing twice, what programs and hooks return.
func TestWholeOfASession(t *testing.T) {
	g, _, next := counting()
	var calls []string
	failed := errors.New("program fails")
	h := &spy{name: "h", calls: &calls}
	m := monitored(t, g, h)
	if m.Graph() != g || m.RawSession().Graph() != g || m.ShouldStop() {
		t.Error("a new session")
	}
	if err := m.CloseWith(failed); !errors.Is(err, failed) || slices.Contains(calls, "h end") {
		t.Error(err, calls)
	}
	if err := m.Close(); err != nil || !m.ShouldStop() || m.RawSession() != nil {
		t.Error("closing again:", err)
	}
	for _, end := range []error{nil, train.ErrStop, tf.Errorf(tf.OutOfRange, "input")} {
		calls = nil
		m = monitored(t, g, &spy{name: "h", calls: &calls})
		if err := m.Loop(t.Context(), func(ctx context.Context) error {
			if _, err := m.Run(ctx, nil, next); err != nil || end != nil {
				return errors.Join(err, end)
			}
			return m.Close()
		}); err != nil || !slices.Contains(calls, "h end") {
			t.Error(end, err, calls)
		}
	}
}

// TestRunsSessionOptions: of hooks and the program the most far-reaching options count.
func TestRunsSessionOptions(t *testing.T) {
	g, _, next := counting()
	var seen []session.RunOptions
	watch := func(o session.RunOptions) train.Hook { return &optionHook{give: o, seen: &seen} }
	m := monitored(t, g, watch(session.RunOptions{Timeout: time.Minute}), watch(session.RunOptions{Timeout: time.Hour, PartitionGraphs: true}))
	_, meta, err := m.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace, Timeout: time.Second}, nil, next)
	if err != nil || meta == nil || len(seen) != 2 || seen[0] != seen[1] || seen[0].Timeout != time.Hour || seen[0].Trace != session.FullTrace || !seen[0].PartitionGraphs {
		t.Error(seen, meta != nil, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

type optionHook struct {
	train.BaseHook
	give session.RunOptions
	seen *[]session.RunOptions
}

func (h *optionHook) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Options: h.give}, nil
}

func (h *optionHook) AfterRun(_ context.Context, _ *train.RunContext, v train.RunValues) error {
	*h.seen = append(*h.seen, v.Options)
	return nil
}

// TestStepFunctions: they stop training, by a request and by an error, have steps without
// hooks, and are not called again by a session that does not recover.
func TestStepFunctions(t *testing.T) {
	for _, singular := range []bool{false, true} {
		g, step, next := counting()
		var calls []string
		create := train.NewMonitoredSession
		if singular {
			create = train.SingularMonitoredSession
		}
		m, err := create(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{&spy{name: "h", calls: &calls}}})
		if err != nil {
			t.Fatal(err)
		}
		tries := 0
		err = m.RunStepFn(t.Context(), func(ctx context.Context, c *train.StepContext) error {
			tries++
			if _, err := c.Run(ctx, nil, next); err != nil {
				return err
			}
			if tries == 1 {
				return tf.Errorf(tf.Aborted, "injected after hooks")
			}
			return nil
		})
		if want := map[bool]int{true: 1, false: 2}[singular]; tries != want || (tf.CodeOf(err) == tf.Aborted) != singular {
			t.Error(singular, tries, err)
		}
		if err := m.Loop(t.Context(), func(ctx context.Context) error {
			return m.RunStepFn(ctx, func(ctx context.Context, c *train.StepContext) error {
				at, err := train.StepOf(ctx, c.Session, step)
				if err == nil && at >= 5 {
					return train.ErrStop
				}
				_, err = c.Session.Run(ctx, nil, next)
				return err
			})
		}); err != nil {
			t.Error(err)
		}
		if n := strings.Count(strings.Join(calls, " "), "before"); n != map[bool]int{true: 1, false: 2}[singular] {
			t.Error("only steps of the context have hooks:", calls)
		}
	}
}

// TestSessionStuck: a goroutine of the coordinator sees that a step cannot end because a
// task is lost: the step ends and another session begins.
func TestSessionStuck(t *testing.T) {
	g := tf.NewGraph()
	q := numbers(g, 1)
	stuck, free := q.Dequeue()[0], ops.Scalar(g, int32(1))
	sessions := 0
	m := monitored(t, g, &catcher{f: func(c *train.Coordinator) {
		if sessions++; sessions == 1 {
			c.Go(func(context.Context) error { return tf.Errorf(tf.Aborted, "lost") })
		}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Run(ctx, nil, stuck); err == nil {
		t.Error("there is nothing in the queue")
	}
	m.ShouldStop()
	if _, err := m.Run(t.Context(), nil, free); err != nil || sessions != 2 {
		t.Error(sessions, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestPrepareSession has what initializes in each way there is, and what that lacks.
func TestPrepareSession(t *testing.T) {
	type model struct {
		g       *tf.Graph
		v, w, x *tf.Variable // x is local
		p       tf.Output
	}
	build := func() model {
		g := tf.NewGraph()
		m := model{g: g, p: ops.Placeholder(g, tf.Float32, tf.Shape{})}
		m.v = tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
		m.w = tf.NewVariable(m.p, tf.VariableOptions{Name: "w"})
		m.x = tf.NewVariable(m.v.Read(), tf.VariableOptions{Name: "x", Local: true})
		return m
	}
	for name, c := range map[string]struct {
		set  func(m model, sm *train.SessionManager, o *train.PrepareOptions)
		want string // of the error; "": it is ready
	}{
		"feeds": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp, o.InitFeeds = tf.Group(m.g, "init", m.v.Initializer(), m.w.Initializer()), session.Feeds{m.p: tf.Scalar(float32(3))}
			sm.LocalInitOp = m.x.Initializer()
		}, ""},
		"local feeds": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp = m.v.Initializer()
			sm.LocalInitOp, sm.LocalInitFeeds = tf.Group(m.g, "local", m.w.Initializer(), m.x.Initializer()), session.Feeds{m.p: tf.Scalar(float32(3))}
		}, ""},
		"function": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			sm.LocalInitOp, sm.ReadyForLocalInitOp = m.x.Initializer(), vars.ReportUninitialized(m.g, m.v)
			o.InitFn = func(ctx context.Context, s *session.Session) error {
				_, err := s.Run(ctx, session.Feeds{m.p: tf.Scalar(float32(3))}, m.v.Initializer(), m.w.Initializer())
				return err
			}
		}, ""},
		"partial": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp, sm.LocalInitOp = m.v.Initializer(), m.x.Initializer()
		}, "Init operations did not make model ready.  Init op: v/Assign, init fn: false, local_init_op: x/Assign, error: Variables not initialized: w"},
		"no local init": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp, o.InitFeeds = tf.Group(m.g, "init", m.v.Initializer(), m.w.Initializer()), session.Feeds{m.p: tf.Scalar(float32(3))}
		}, "Variables not initialized: x"},
		"not ready for local": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp, sm.LocalInitOp, sm.ReadyForLocalInitOp = m.v.Initializer(), m.x.Initializer(), vars.ReportUninitialized(m.g, m.v, m.w)
		}, "Init operations did not make model ready for local_init.  Init op: v/Assign, init fn: false, error: Variables not initialized: w"},
		"local too early": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitOp, sm.LocalInitOp, sm.ReadyForLocalInitOp = m.w.Initializer(), m.x.Initializer(), vars.ReportUninitialized(m.g, m.w)
			o.InitFeeds = session.Feeds{m.p: tf.Scalar(float32(3))}
		}, "Could not find variable v"},
		"function fails": {func(m model, sm *train.SessionManager, o *train.PrepareOptions) {
			o.InitFn = func(context.Context, *session.Session) error { return errors.New("of the program") }
		}, "of the program"},
		"nothing": {func(model, *train.SessionManager, *train.PrepareOptions) {}, "Model is not initialized and no init_op or init_fn or local_init_op was given"},
	} {
		m := build()
		sm := &train.SessionManager{Graph: m.g}
		var o train.PrepareOptions
		c.set(m, sm, &o)
		sm.ReadyOp = vars.ReportUninitialized(m.g)
		s, err := sm.PrepareSession(t.Context(), o)
		if err == nil {
			s.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestRecoverSession: what there is of a checkpoint decides whether a session is ready;
// local variables are initialized if they can be.
func TestRecoverSession(t *testing.T) {
	dir := t.TempDir()
	build := func() (*tf.Graph, *train.Saver, *tf.Variable, *tf.Variable) {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar(g, int32(1)), tf.VariableOptions{Name: "v"})
		w := tf.NewVariable(v.Read(), tf.VariableOptions{Name: "w", Local: true})
		return g, newSaver(t, g, train.SaverOptions{Vars: []*tf.Variable{v}}), v, w
	}
	g, saver, v, _ := build()
	s := begin(t, g, true)
	if _, err := s.Run(t.Context(), nil, v.Assign(ops.Scalar(g, int32(8)))); err != nil {
		t.Fatal(err)
	}
	if _, err := saver.Save(t.Context(), s, filepath.Join(dir, "m")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir     string
		early, ready  bool // what ReadyForLocalInitOp asks for is never there
		initialized   bool
		local, global int32
	}{
		{"restored", dir, false, true, true, 8, 8}, {"no checkpoint", t.TempDir(), true, false, false, 0, 0}, {"not ready for local", dir, true, false, false, 0, 8},
	} {
		g, saver, v, w := build()
		sm := &train.SessionManager{Graph: g, LocalInitOp: w.Initializer(), ReadyOp: vars.ReportUninitialized(g)}
		wait := vars.ReportUninitialized(g, v)
		if c.early {
			never := tf.NewVariable(ops.Scalar(g, int32(1)), tf.VariableOptions{Name: "never", Local: true})
			wait = vars.ReportUninitialized(g, never)
		}
		sm.ReadyForLocalInitOp = wait
		s, ok, err := sm.RecoverSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: c.dir})
		if err != nil || ok != c.ready {
			t.Fatal(c.name, ok, err)
		}
		out, err := s.Run(t.Context(), nil, w.IsInitialized())
		if err != nil || out[0].At(0) != c.initialized {
			t.Error(c.name, out, err)
		}
		if c.initialized {
			if out, err := s.Run(t.Context(), nil, w.Value()); err != nil || out[0].At(0) != c.local {
				t.Error(c.name, out, err)
			}
		}
		s.Close()
	}
}
