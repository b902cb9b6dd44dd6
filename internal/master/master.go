// Package master drives the workers of a cluster: it places a client's graph on
// their devices, gives each its part, and runs steps on all parts at once.
//
// What a step needs of the graph and how it is split is worked out by functions
// that do no I/O (plan.go); sessions only carry the result to the workers and
// back. A worker is known through the interface [Worker] alone.
package master

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/options"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Worker is a task of the cluster, this one or another. Its errors are
// tf.Errors; those of RunGraph, too, are returned, never put into the response.
type Worker interface {
	GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error)
	CreateWorkerSession(context.Context, *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error)
	DeleteWorkerSession(context.Context, *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error)
	RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error)
	DeregisterGraph(context.Context, *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error)
	RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error)
	CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error)
	CleanupAll(context.Context, *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error)
	Logging(context.Context, *pb.LoggingRequest) (*pb.LoggingResponse, error)
}

// Workers finds the workers of a cluster.
type Workers interface {
	// Tasks returns the names of all tasks, "/job:ps/replica:0/task:0".
	Tasks() []string
	// Worker returns the worker of a task.
	Worker(task string) (Worker, error)
}

// Env is what a master works with.
type Env struct {
	Task    string      // of the master itself, which is a worker too
	Devices *device.Set // of that task; the first is where feeds and fetches live
	Workers Workers     // all tasks, its own among them
	// Connect reaches the workers of a cluster that a session brings along, in
	// which this task is called own. Nil: sessions may not do so.
	Connect func(def *pb.ClusterDef, own string) (Cluster, error)
	// Sequences numbers the steps of graphs that are run by several masters, a part
	// each; nil: there are none.
	Sequences Sequences
	Config    *pb.ConfigProto // what sessions do not say themselves; may be nil
	// SessionTimeout closes sessions that no client has used for so long; 0:
	// they stay.
	SessionTimeout time.Duration
	// Sessions and Steps bound how many are open, and under way, at once; 0: there is
	// no bound.
	Sessions, Steps int
	// Limits bound the planning of graphs.
	Limits graph.Limits
	Log    *slog.Logger // nil: nothing is logged
	// Optimize, if not nil, rewrites the graph of a step before it is split.
	// What the signature names must stay.
	Optimize func(g *graph.Graph, s pass.Signature) (*graph.Graph, error)
}

// A Master serves sessions. Its methods are those of TensorFlow's MasterService,
// in plain Go, and may be called from any goroutine.
type Master struct {
	env        Env
	recent     *requestid.Recent
	ctx        context.Context // ends with Close
	cancel     context.CancelCauseFunc
	options    options.Teller
	steps      atomic.Int64   // under way
	background sync.WaitGroup // what goes on after a client has its answer

	mu       sync.Mutex
	sessions map[string]*session
	opening  int // sessions that are not among them yet
	closed   bool
	draining bool // nothing new is taken any more
}

// trackedRequests is how many requests TensorFlow's masters remember.
const trackedRequests = 10_000

// New returns a master that is ready to serve.
func New(env Env) *Master {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	m := &Master{env: env, recent: requestid.NewRecent(trackedRequests), sessions: map[string]*session{}}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	if env.SessionTimeout > 0 {
		m.background.Go(func() { m.closeIdle(env.SessionTimeout) })
	}
	return m
}

// Close ends all sessions: their steps fail with an Unavailable error. It
// returns when nothing is under way any more. Later calls fail.
func (m *Master) Close() {
	why := m.leaving()
	m.mu.Lock()
	all := m.sessions
	m.sessions, m.closed = nil, true
	m.cancel(why) // under mu: what finds the master closed reports this cause
	m.mu.Unlock()
	for _, s := range all {
		s.end(why)
		s.leaveCluster()
	}
	m.background.Wait()
}

// reserve keeps a place for a session that is being opened, until release.
func (m *Master) reserve() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.sessions) + m.opening; m.env.Sessions > 0 && n >= m.env.Sessions {
		return core.Errorf(core.ResourceExhausted, "%s takes no more than %d sessions at once (the limit of sessions): close some", m.env.Task, m.env.Sessions)
	}
	m.opening++
	return nil
}

func (m *Master) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opening--
}

// count counts a step, which ends with m.steps.Add(-1).
func (m *Master) count() error {
	if n := m.steps.Add(1); m.env.Steps > 0 && n > int64(m.env.Steps) {
		m.steps.Add(-1)
		return core.Errorf(core.ResourceExhausted, "%s takes no more than %d steps at once (the limit of steps)", m.env.Task, m.env.Steps)
	}
	return nil
}

// start counts something that Close waits for; it ends with m.background.Done.
func (m *Master) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return context.Cause(m.ctx)
	}
	m.background.Add(1)
	return nil
}

// within returns a context that ends with ctx and with the master, and the
// function that gives it back.
func (m *Master) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return bound(ctx, m.ctx)
}

// bound returns a context that ends with either of two, with the cause of the
// one that ended.
func bound(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

// lookup returns a session, nil if there is none of that handle.
func (m *Master) lookup(handle string) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[handle]
}

// find returns the session that a call is about. Clients take Aborted as a
// sign to open another one.
func (m *Master) find(handle string) (*session, error) {
	if s := m.lookup(handle); s != nil {
		return s, nil
	}
	if err := context.Cause(m.ctx); err != nil {
		return nil, err
	}
	return nil, core.Errorf(core.Aborted, "Session %s is not found.", handle)
}

// remove takes a session out of the table; nil if it is not there.
func (m *Master) remove(handle string) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[handle]
	delete(m.sessions, handle)
	return s
}

// add puts an opened session into the table.
func (m *Master) add(s *session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return context.Cause(m.ctx)
	}
	m.sessions[s.handle] = s
	return nil
}
