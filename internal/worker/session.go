package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A session is what one master session has in this task: its graphs, the
// kernels with state, and, if it is isolated, devices of its own.
type session struct {
	handle            string
	master            string // task of the master
	masterIncarnation int64
	isolated          bool
	rt                step.Runtime
	rdv               rendezvous.Session
	ctx               context.Context // ends when the session is closed
	cancel            context.CancelCauseFunc
	collectives       *collective.Runtime // of its own cluster; nil: the worker's

	mu     sync.Mutex
	graphs map[string]*step.Graph
	next   uint64 // number of the next graph
	closed bool
	leave  func() // its own cluster, if it has one
	peer   func(task string) (Peer, error)
	member func(task string) (collective.Peer, error)
	moves  int // how many times another cluster has come
	steps  sync.WaitGroup

	standing map[int64]bool // steps that last as long as the session; of the worker's mu
}

// holder is what reports of memory call the session. That without a handle serves
// masters that create none, every worker has it.
func (s *session) holder() string {
	if s.handle == "" {
		return "default session"
	}
	return "session " + s.handle
}

func (w *Worker) newSession(req *pb.CreateWorkerSessionRequest) (*session, error) {
	s := &session{
		handle: req.GetSessionHandle(), master: req.GetMasterTask(), masterIncarnation: req.GetMasterIncarnation(),
		isolated: req.GetIsolateSessionState(), graphs: map[string]*step.Graph{},
	}
	s.rt.Pool = memory.NewSessionPool(poolLimit, s.holder())
	s.rdv = rendezvous.Session{Task: w.env.Task, Alloc: allocFrom(s.rt.Pool)}
	if w.env.Transport != nil {
		s.rdv.Transport = w.transfers
	}
	if w.env.Alloc != nil {
		s.rdv.Alloc = w.env.Alloc(s.rdv.Alloc)
	}
	s.reach(w.env.Peer)
	if err := w.join(s, req.GetServerDef()); err != nil {
		return nil, err
	}
	devices := w.env.Devices
	if s.isolated || s.rdv.Task != w.env.Task {
		task, err := core.ParseDevice(s.rdv.Task)
		if err != nil {
			return nil, err
		}
		devices = sessionDevices(devices, task, s.isolated)
	}
	s.rt.Kept, s.rt.Limits = &step.Kept{}, w.env.Limits
	switch {
	case s.member != nil:
		s.collectives = s.ownCollectives(devices.Lookup, req)
		s.rt.Collectives = s.collectives
	case w.env.Collectives != nil:
		s.rt.Collectives = w.env.Collectives
	}
	s.rdv.Devices, s.rt.Devices, s.rt.Parallel, s.rt.Begin = devices, devices, w.threads.ParallelFor, w.threads.Begin
	s.ctx, s.cancel = context.WithCancelCause(w.ctx)
	return s, nil
}

// join makes s part of the cluster that it brings along, if it does.
func (w *Worker) join(s *session, def *pb.ServerDef) error {
	if len(def.GetCluster().GetJob()) == 0 {
		return nil
	}
	if w.env.Connect == nil {
		return core.Errorf(core.Unimplemented, "a session must use the cluster that its servers were started with: session %s brings another one", s.handle)
	}
	own := core.DeviceSpec{Job: def.GetJobName(), Replica: 0, Task: int(def.GetTaskIndex()), ID: -1}.String()
	c, err := w.env.Connect(def.GetCluster(), own)
	if err != nil {
		return err
	}
	s.rdv.Task, s.rdv.Transport, s.rdv.Alloc, s.leave = own, w.transfers.over(c.Transport), allocFrom(s.rt.Pool), c.Leave
	s.member = c.Member
	s.reach(c.Peer)
	return nil
}

// reach lets functions be called on other tasks.
func (s *session) reach(peer func(task string) (Peer, error)) {
	if s.peer = peer; peer != nil {
		s.rt.Remote = &remoteCalls{s: s, peer: s.peerNow}
	}
}

// peerNow returns the worker of another task of the cluster as it is now.
func (s *session) peerNow(task string) (Peer, error) {
	s.mu.Lock()
	find := s.peer
	s.mu.Unlock()
	return find(task)
}

// memberNow returns another task of the cluster as it is now, as groups of devices see it.
func (s *session) memberNow(task string) (collective.Peer, error) {
	s.mu.Lock()
	find := s.member
	s.mu.Unlock()
	return find(task)
}

// generation tells the session's clusters apart.
func (s *session) generation() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moves
}

func allocFrom(p *memory.Pool) rendezvous.Alloc {
	return func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		if err := core.CheckSize(d, s); err != nil {
			return nil, err
		}
		return p.GetFor(0, s.NumElements()*d.Size())
	}
}

// CreateWorkerSession opens a session. Sessions that an earlier life of the
// same master has left behind are closed.
//
// A master that gives up on the call may delete the session before it is open: then
// it is not opened any more.
func (w *Worker) CreateWorkerSession(ctx context.Context, req *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	if req.GetSessionHandle() == "" {
		return nil, core.Errorf(core.InvalidArgument, "Session must be non-empty.")
	}
	if w.env.Settle != nil {
		w.env.Settle(ctx)
	}
	left, err := w.open(ctx, req)
	for _, s := range left {
		w.env.Log.Info("closing a session whose master has restarted", "session", s.handle, "master", s.master)
		w.end(s, core.Errorf(core.Aborted, "The master %s of session %s has restarted.", s.master, s.handle))
	}
	return &pb.CreateWorkerSessionResponse{}, err
}

// hasRoom returns an error if one more session is too many; w.mu is held.
func (w *Worker) hasRoom() error {
	if w.env.Sessions > 0 && len(w.sessions) >= w.env.Sessions {
		return core.Errorf(core.ResourceExhausted, "%s takes no more than %d sessions of masters and eager contexts at once (the limit of sessions)", w.env.Task, w.env.Sessions)
	}
	return nil
}

// open adds a session, and takes out those that it replaces.
func (w *Worker) open(ctx context.Context, req *pb.CreateWorkerSessionRequest) (left []*session, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		return nil, context.Cause(w.ctx)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	left = w.leftBy(req)
	for _, s := range left {
		delete(w.sessions, s.handle)
	}
	if w.sessions[req.GetSessionHandle()] != nil {
		return left, nil
	}
	if err := w.hasRoom(); err != nil {
		return left, err
	}
	s, err := w.newSession(req)
	if err != nil {
		return left, err
	}
	w.sessions[s.handle] = s
	return left, nil
}

// leftBy finds the sessions of earlier lives of the master that makes a request.
// The name alone tells, as in TensorFlow, also where sessions bring their clusters
// along: a master that has restarted may have another address.
func (w *Worker) leftBy(req *pb.CreateWorkerSessionRequest) []*session {
	if req.GetMasterTask() == "" {
		return nil
	}
	all := slices.Collect(maps.Values(w.sessions))
	return slices.DeleteFunc(all, func(s *session) bool {
		return s.master != req.GetMasterTask() || s.masterIncarnation == req.GetMasterIncarnation()
	})
}

// DeleteWorkerSession closes a session. One that is not there is no error: it
// may have been deleted when its answer was lost.
func (w *Worker) DeleteWorkerSession(_ context.Context, req *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	w.mu.Lock()
	s := w.sessions[req.GetSessionHandle()]
	delete(w.sessions, req.GetSessionHandle())
	w.mu.Unlock()
	if s != nil {
		w.end(s, core.Errorf(core.Aborted, "The session %s has been deleted.", s.handle))
	}
	return &pb.DeleteWorkerSessionResponse{}, nil
}

// find returns the session that a request names. Masters of TensorFlow 1.7 and
// before make calls without having opened one.
func (w *Worker) find(opened bool, handle string) (*session, error) {
	if !opened {
		return w.legacy, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.sessions[handle]; s != nil {
		return s, nil
	}
	if w.sessions == nil {
		return nil, context.Cause(w.ctx)
	}
	return nil, core.Errorf(core.Aborted, "Session handle is not found: %s. Possibly this worker (\"%s\") just restarted.", handle, w.env.Task)
}

// end closes a session and drops its steps that were never cleaned up.
func (w *Worker) end(s *session, why error) {
	s.close(why)
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, of := range w.steps {
		if of == s {
			delete(w.steps, id)
			delete(w.partial, id)
			w.cleanup(s, id)
		}
	}
}

// close ends the session's steps, waits for them, and drops what it holds.
func (s *session) close(why error) {
	s.mu.Lock()
	s.closed = true
	s.cancel(why) // under mu: what finds the session closed reports this cause
	s.mu.Unlock()
	if s.collectives != nil {
		s.collectives.Close()
	}
	s.steps.Wait()
	s.rt.Kept.Close()
	s.rt.Pool.Close()
	s.leaveCluster()
	if !s.isolated {
		return
	}
	for _, d := range s.rt.Devices.List() {
		d.Resources().ClearAll()
	}
}

// leaveCluster ends the session's own cluster, if it has one. No other takes its place
// afterwards.
func (s *session) leaveCluster() {
	s.mu.Lock()
	leave := s.leave
	s.leave = nil
	s.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// begin counts a step, which ends with s.steps.Done.
func (s *session) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return context.Cause(s.ctx)
	}
	s.steps.Add(1)
	return nil
}

// within returns a context that ends with ctx and with the session. Its cancel has
// to be called.
func (s *session) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func(why error) {
		stop()
		cancel(why)
	}
}

// register keeps g and returns its handle.
func (s *session) register(g *step.Graph) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	handle := fmt.Sprintf("%016x", s.next)
	s.next++
	s.graphs[handle] = g
	return handle
}

// graph returns a registered graph.
func (s *session) graph(handle string) (*step.Graph, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.graphs[handle]; g != nil {
		return g, nil
	}
	return nil, core.Errorf(core.Aborted, "Graph handle is not found: %s", handle)
}
