package train

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// A MonitoredSession runs steps with hooks around them, and replaces its session
// when a task of the cluster is lost: an error of code Aborted or Unavailable, or a
// group of several tasks' errors that has one, makes a new session, from the last checkpoint if the creator is a chief's, and the
// step is run again. Any other error ends training.
//
// Steps are run one at a time. Close, or CloseWith after an error, ends it all.
type MonitoredSession struct {
	ctx     context.Context
	g       *tf.Graph
	creator SessionCreator
	hooks   []Hook
	recover bool
	grace   time.Duration

	turn   chan struct{}        // holds one element while a step or a method is under way
	live   atomic.Pointer[live] // nil: lost, or closed; written in turn
	closed bool
	froze  bool // the graph is finalized because of this session
}

// live is a session that is at work.
type live struct {
	s     *session.Session
	coord *Coordinator
	stop  bool // a hook has asked for it
	waits bool // steps may wait for queue runners, whose queues stay open when a task is lost
}

// MonitoredOptions adjust [NewMonitoredSession].
type MonitoredOptions struct {
	// Creator makes the sessions; nil: a ChiefSessionCreator with defaults.
	Creator SessionCreator
	Hooks   []Hook
	// StopGrace is how long goroutines of the coordinator may take to end; 0: 2
	// minutes.
	StopGrace time.Duration
}

// NewMonitoredSession returns a session on g that recovers. Hooks may add to the
// graph; after that it is finalized until the session is closed, see [tf.Graph.Finalize].
// When ctx ends, so do its steps.
func NewMonitoredSession(ctx context.Context, g *tf.Graph, o MonitoredOptions) (*MonitoredSession, error) {
	return newMonitored(ctx, g, o, true)
}

// SingularMonitoredSession returns a MonitoredSession that does not recover: the
// errors of lost tasks are the program's to handle.
func SingularMonitoredSession(ctx context.Context, g *tf.Graph, o MonitoredOptions) (*MonitoredSession, error) {
	return newMonitored(ctx, g, o, false)
}

func newMonitored(ctx context.Context, g *tf.Graph, o MonitoredOptions, recover bool) (_ *MonitoredSession, err error) {
	if err := core.NeedContext(ctx, "a session"); err != nil {
		return nil, err
	}
	m := &MonitoredSession{turn: make(chan struct{}, 1), closed: true, ctx: ctx, g: g, creator: o.Creator, hooks: o.Hooks, recover: recover, grace: o.StopGrace}
	if m.creator == nil {
		m.creator = &ChiefSessionCreator{Graph: g}
	}
	if m.grace <= 0 {
		m.grace = DefaultGrace
	}
	defer func() {
		if m.closed { // after an error, or when a hook panics
			err = errors.Join(err, m.closeHooks())
		}
	}()
	if err = m.begin(); err == nil {
		err = m.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	m.closed = false
	return m, nil
}

// begin calls the hooks. A mistake in the graph is looked for before each of them: what a
// hook says of tensors that are none only follows from it.
func (m *MonitoredSession) begin() error {
	if m.g == nil {
		return tf.Errorf(tf.InvalidArgument, "a session needs a graph, got nil")
	}
	for _, h := range m.hooks {
		if h == nil {
			return tf.Errorf(tf.InvalidArgument, "a hook must not be nil")
		}
		if err := m.g.Err(); err != nil {
			return err
		}
		if err := h.Begin(m.g); err != nil {
			return err
		}
	}
	return m.g.Err()
}

// lost reports whether err says that a task of the cluster is gone.
func lost(err error) bool {
	code := tf.CodeOf(err)
	return code == tf.Aborted || code == tf.Unavailable || code == tf.Canceled && groupsLoss(err.Error())
}

// groupsLoss reports whether a text of several tasks' errors has one of a task that is gone. A master of
// TensorFlow gives the code of the first one to such a group: if that is a transfer which was cancelled because
// the other task is gone, the code does not say so.
func groupsLoss(text string) bool {
	const rule = "\n=====================\n"
	_, group, _ := strings.Cut(text, rule)
	group, _, closed := strings.Cut(group, rule)
	if !closed {
		return false
	}
	for line := range strings.Lines(group) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "ABORTED: From /job:") || strings.HasPrefix(line, "UNAVAILABLE: From /job:") {
			return true
		}
	}
	return false
}

// errLostSession stops a coordinator whose session is lost. Queues that its
// runners fill stay open: those of a cluster are also the next session's.
var errLostSession = errors.New("train: the session is lost")

func (m *MonitoredSession) createOnce(ctx context.Context) error {
	s, err := m.creator.CreateSession(ctx)
	if err != nil {
		return err
	}
	l := &live{s: s, coord: NewCoordinator(m.ctx, func(err error) bool { return errors.Is(err, errLostSession) })}
	l.coord.heals = m.recover
	l.waits = m.recover && len(m.g.Collection(QueueRunners)) > 0
	complete := false
	defer func() {
		if !complete { // after an error, or when a hook panics
			_ = m.end(l)
		}
	}()
	StartQueueRunners(m.g, l.coord, s)
	for _, h := range m.hooks {
		if err := h.AfterCreateSession(ctx, s, l.coord); err != nil {
			if lost(err) {
				l.coord.RequestStop(errLostSession)
			}
			return err
		}
	}
	complete = true
	m.live.Store(l)
	return nil
}

// end stops the goroutines of a session and closes it. It returns what the first
// of them failed with.
func (m *MonitoredSession) end(l *live) error {
	l.coord.RequestStop(nil)
	err := l.coord.Join(m.grace)
	if e := l.s.Close(); e != nil {
		slog.Error("closing a session", "error", e)
	}
	return err
}

// drop gives up a session that is lost.
func (m *MonitoredSession) drop(cause error) {
	slog.Info("An error was raised. This may be due to a preemption in a connected worker or parameter server. "+
		"The current session will be closed and a new session will be created.", "error", cause)
	l := m.live.Swap(nil)
	l.coord.RequestStop(errLostSession)
	_ = m.end(l)
}

// Graph returns the graph.
func (m *MonitoredSession) Graph() *tf.Graph { return m.g }

// RawSession returns the session at work, without hooks; nil if there is none. It
// does not wait for a step that runs.
func (m *MonitoredSession) RawSession() *session.Session {
	if l := m.live.Load(); l != nil {
		return l.s
	}
	return nil
}

// ShouldStop reports whether training is over: a hook or the coordinator has
// asked for it, or the session is closed.
func (m *MonitoredSession) ShouldStop() bool {
	m.lock()
	defer m.unlock()
	if m.closed {
		return true
	}
	if m.live.Load() == nil {
		return false // the next step makes a session
	}
	if err := m.live.Load().coord.Err(); err != nil {
		if m.recover && lost(err) {
			m.drop(err)
			return false
		}
		return true
	}
	return m.live.Load().stop || m.live.Load().coord.ShouldStop()
}

// Run runs a step with the hooks, as session.Session.Run does.
func (m *MonitoredSession) Run(ctx context.Context, feeds session.Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	out, _, err := m.RunWithOptions(ctx, session.RunOptions{}, feeds, fetches...)
	return out, err
}

// RunStep is Run, for functions that take a tf.StepRunner.
func (m *MonitoredSession) RunStep(ctx context.Context, feeds map[tf.Output]tf.Value, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	return m.Run(ctx, feeds, fetches...)
}

// RunWithOptions is Run as o says, and returns what the step reports; nil if
// neither o nor a hook asks for anything.
func (m *MonitoredSession) RunWithOptions(ctx context.Context, o session.RunOptions, feeds session.Feeds, fetches ...tf.Fetchable) (out []*tf.Tensor, meta *session.RunMetadata, err error) {
	err = m.try(ctx, func(ctx context.Context, l *live) error {
		out, meta, err = m.step(ctx, l, RunArgs{fetches, feeds, o})
		return err
	})
	return out, meta, err
}

// try calls f with a session that is alive, again with another one if that is
// lost.
func (m *MonitoredSession) try(ctx context.Context, f func(ctx context.Context, l *live) error) error {
	if err := core.NeedContext(ctx, "a step"); err != nil {
		return err
	}
	ctx, done := m.within(ctx)
	defer done()
	if err := m.await(ctx); err != nil {
		return err
	}
	defer m.unlock()
	for {
		l, err := m.alive(ctx)
		if err != nil {
			return err
		}
		again, err := m.again(ctx, l, f(ctx, l))
		if !again {
			return err
		}
	}
}

// within returns a context that ends with ctx and with the session's, and the function
// that gives it back. Most programs use one context for both.
func (m *MonitoredSession) within(ctx context.Context) (context.Context, func()) {
	if end := m.ctx.Done(); end == nil || end == ctx.Done() {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(m.ctx, func() { cancel(context.Cause(m.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// reported returns what a step's error is due to: if a goroutine of the
// coordinator has lost a task, that.
func (l *live) reported(err error) error {
	if err == nil || lost(err) {
		return err
	}
	if other := l.coord.Err(); other != nil && lost(other) {
		return other
	}
	return err
}

// step runs a step with the hooks around it.
func (m *MonitoredSession) step(ctx context.Context, l *live, asked RunArgs) ([]*tf.Tensor, *session.RunMetadata, error) {
	if l.stop {
		return nil, nil, tf.Errorf(tf.FailedPrecondition, "Run called even after should_stop requested.")
	}
	rc := &RunContext{Original: asked, Session: l.s}
	all, starts, err := m.before(ctx, rc)
	if err != nil {
		return nil, nil, err
	}
	out, meta, err := l.run(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	for i, h := range m.hooks {
		v := RunValues{Results: out[starts[i]:starts[i+1]], Options: all.Options, Metadata: meta}
		if err := h.AfterRun(ctx, rc, v); err != nil {
			return nil, nil, err
		}
	}
	l.stop = l.stop || rc.stop
	return out[:len(asked.Fetches)], meta, nil
}

// run runs a step, which ends when a queue runner has lost a task: it may wait for what no
// runner of this session brings any more.
func (l *live) run(ctx context.Context, a RunArgs) ([]*tf.Tensor, *session.RunMetadata, error) {
	if !l.waits {
		return run(ctx, l.s, a)
	}
	stop := l.coord.Context()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(stop, func() {
		if cause := context.Cause(stop); l.coord.keeps(cause) {
			cancel(cause)
		}
	})()
	return run(ctx, l.s, a)
}

// run runs a step, with options if there are any.
func run(ctx context.Context, s *session.Session, a RunArgs) ([]*tf.Tensor, *session.RunMetadata, error) {
	if a.Options == (session.RunOptions{}) {
		out, err := s.Run(ctx, a.Feeds, a.Fetches...)
		return out, nil, err
	}
	return s.RunWithOptions(ctx, a.Options, a.Feeds, a.Fetches...)
}

// before asks the hooks what they want beside the program. It returns all of
// it, and where the fetches of each hook begin.
func (m *MonitoredSession) before(ctx context.Context, rc *RunContext) (all RunArgs, starts []int, err error) {
	all = rc.Original
	all.Fetches = all.Fetches[:len(all.Fetches):len(all.Fetches)]
	var fed session.Feeds // by hooks
	starts = make([]int, 0, len(m.hooks)+1)
	for _, h := range m.hooks {
		a, err := h.BeforeRun(ctx, rc)
		if err != nil {
			return all, nil, err
		}
		starts = append(starts, len(all.Fetches))
		all.Fetches = append(all.Fetches, a.Fetches...)
		all.Options = union(all.Options, a.Options)
		if fed, err = joinFeeds(fed, a.Feeds, "Same tensor is fed by two hooks."); err != nil {
			return all, nil, err
		}
	}
	starts = append(starts, len(all.Fetches))
	if len(fed) > 0 {
		all.Feeds, err = joinFeeds(fed, all.Feeds, "Same tensor is fed by a SessionRunHook and user.")
	}
	return all, starts, err
}

// joinFeeds adds more to feeds, which is a map of our own or nil.
func joinFeeds(feeds, more session.Feeds, conflict string) (session.Feeds, error) {
	for x, v := range more {
		if _, twice := feeds[x]; twice {
			return nil, tf.Errorf(tf.InvalidArgument, "%s Conflict(s): %s", conflict, x.Name())
		}
		if feeds == nil {
			feeds = session.Feeds{}
		}
		feeds[x] = v
	}
	return feeds, nil
}
