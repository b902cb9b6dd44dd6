package train_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
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
	seven := ops.Scalar(g, int32(7))
	m := monitored(t, g, a, b)
	out, err := m.Run(t.Context(), nil, next, seven)
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

// sessionsHook calls a function with each session.
type sessionsHook struct {
	train.BaseHook
	f func(s *session.Session, c *train.Coordinator) error
}

func (h *sessionsHook) AfterCreateSession(_ context.Context, s *session.Session, c *train.Coordinator) error {
	return h.f(s, c)
}

// TestStepWaitsForALostProducer: a step that waits for a queue, whose producer has lost a
// task that the step itself does not need, goes on in another session.
func TestStepWaitsForALostProducer(t *testing.T) {
	g, _, _ := counting()
	source, q := queue.NewFIFO(g, []tf.DType{tf.Int32}, queue.Opts{Capacity: 1}), queue.NewFIFO(g, []tf.DType{tf.Int32}, queue.Opts{Capacity: 1})
	x := q.Dequeue()[0]
	train.AddQueueRunner(g, &train.QueueRunner{Enqueue: []*tf.Operation{q.Enqueue(source.Dequeue())}, Cancel: queue.QueueCloseV2(q.Handle, queue.CloseOpts{CancelPendingEnqueues: true})})
	fill := q.Enqueue([]tf.Output{ops.Scalar(g, int32(7))})
	sessions := 0
	m := monitored(t, g, &sessionsHook{f: func(s *session.Session, c *train.Coordinator) error {
		if sessions++; sessions > 1 {
			_, err := s.Run(t.Context(), nil, fill)
			return err
		}
		c.Go(func(context.Context) error { return tf.Errorf(tf.Aborted, "injected") })
		return nil
	}})
	if got, err := m.Run(t.Context(), nil, x); err != nil || got[0].At(0).(int32) != 7 || sessions != 2 {
		t.Errorf("got %v, %v in session %d", got, err, sessions)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
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
		if err := m.Train(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		latest, err := train.LatestCheckpoint(dir)
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

// begunHook tells when a step has begun.
type begunHook struct {
	train.BaseHook
	begun chan struct{}
}

func (h *begunHook) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	close(h.begun)
	return train.RunArgs{}, nil
}

// TestRawSessionDuringAStep: other goroutines reach the session while a step waits.
func TestRawSessionDuringAStep(t *testing.T) {
	g := tf.NewGraph()
	q := queue.FIFOQueueV2(g, []tf.DType{tf.Int32}, queue.Opts{Capacity: 1})
	one := queue.QueueEnqueueV2(q, []tf.Output{ops.Scalar(g, int32(7))})
	next := queue.QueueDequeueV2(q, []tf.DType{tf.Int32})[0]
	h := &begunHook{begun: make(chan struct{})}
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := make(chan any)
	go func() {
		out, err := m.Run(t.Context(), nil, next)
		if err != nil {
			got <- err
			return
		}
		got <- out[0].At(0)
	}()
	<-h.begun
	if _, err := m.RawSession().Run(t.Context(), nil, one); err != nil {
		t.Error(err)
	}
	if v := <-got; v != int32(7) {
		t.Error(v)
	}
}
