package master

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A session is one client's graph on the cluster.
type session struct {
	m       *Master
	cluster *membership
	handle  string
	cfg     *pb.ConfigProto
	members []member
	layout  *layout
	log     *slog.Logger
	ctx     context.Context // ends with the session
	cancel  context.CancelCauseFunc

	extending chan struct{} // holds a value during an extension
	callables callables
	partials  partials

	mu      sync.Mutex
	def     *pb.GraphDef // all that the client has sent
	placed  *graph.Graph
	pinned  map[string]string // devices of nodes with state
	version int64
	steps   map[string]*prepared // by signature
	closed  bool
	active  int       // calls under way
	used    time.Time // when the last one ended
	running sync.WaitGroup

	trailing sync.WaitGroup // steps that workers are still told to clean up
}

// CreateSession opens a session: it finds the workers, places the graph, and
// tells all workers. It waits for workers that have not started yet.
func (m *Master) CreateSession(ctx context.Context, req *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error) {
	if err := m.start(); err != nil {
		return nil, err
	}
	defer m.background.Done()
	if err := m.admit(); err != nil {
		return nil, err
	}
	if err := m.reserve(); err != nil {
		return nil, err
	}
	defer m.release()
	ctx, cancel := m.within(ctx)
	defer cancel()
	if err := checkSyntax(req.GetGraphDef()); err != nil {
		return nil, err
	}
	s, err := m.newSession(req.GetConfig(), req.GetTarget())
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, req.GetGraphDef()); err != nil {
		s.end(err)
		s.leave()
		return nil, err
	}
	if err := m.add(s); err != nil {
		s.end(err)
		s.leaveCluster()
		return nil, err
	}
	return &pb.CreateSessionResponse{SessionHandle: s.handle, GraphVersion: s.version}, nil
}

func (m *Master) newSession(asked *pb.ConfigProto, target string) (*session, error) {
	cfg, err := m.config(asked)
	if err != nil {
		return nil, err
	}
	m.options.Tell(m.env.Log, cfg)
	cluster, err := m.membership(cfg.GetClusterDef(), target)
	if err != nil {
		return nil, err
	}
	s := &session{
		m: m, cluster: cluster, handle: fmt.Sprintf("%016x", rand.Uint64()), cfg: cfg,
		used: time.Now(), pinned: map[string]string{}, steps: map[string]*prepared{}, extending: make(chan struct{}, 1),
	}
	s.log = m.env.Log.With("session", s.handle)
	s.ctx, s.cancel = context.WithCancelCause(m.ctx)
	return s, nil
}

func (s *session) open(ctx context.Context, def *pb.GraphDef) error {
	f, err := parseFilters(s.cfg.GetDeviceFilters())
	if err != nil {
		return err
	}
	members, err := discover(ctx, s.cluster.workers, f.tasks(s.cluster.workers.Tasks(), s.cluster.own), s.log)
	if err != nil {
		return err
	}
	f.devices(members, s.cluster.own)
	if s.layout, err = newLayout(members, s.cluster.client); err != nil {
		return err
	}
	s.layout.inOrder = s.cfg.GetExperimental().GetCollectiveDeterministicSequentialExecution()
	if err := s.setGraph(ctx, def); err != nil {
		return err
	}
	s.members = members
	return s.createAtWorkers(ctx)
}

// setGraph parses and places the whole of a client's graph. That ends with ctx.
func (s *session) setGraph(ctx context.Context, def *pb.GraphDef) error {
	if err := checkVersions(def.GetVersions()); err != nil {
		return err
	}
	library, err := core.NewLibrary(def.GetLibrary())
	if err != nil {
		return err
	}
	if s.def == nil {
		err = checkTyped(def, library)
	}
	if err != nil {
		return err
	}
	g, err := graph.Read(graph.NewBudget(ctx, s.m.env.Limits), def, library)
	if err != nil {
		return err
	}
	if err := checkDevices(g); err != nil {
		return err
	}
	if err := checkCycles(g); err != nil {
		return err
	}
	if err := pass.Lower(g, pass.DisabledFor(s.cfg.GetExperimental().GetExecutorType())); err != nil {
		return err
	}
	if err := s.layout.place(g, s.cfg.GetAllowSoftPlacement(), s.pinned); err != nil {
		return err
	}
	if s.cfg.GetLogDevicePlacement() {
		s.log.Info("device placement\n" + pass.Placement(g))
	}
	g.Budget = nil // its planning is over
	s.mu.Lock()
	defer s.mu.Unlock()
	s.def, s.placed = def, g
	return nil
}

// createAtWorkers tells all workers of the session. It waits for their answers also
// when one refuses, and a little when the client gives up: a session that is opened
// later than it is deleted stays for ever.
func (s *session) createAtWorkers(ctx context.Context) error {
	ctx, cancel := outlasting(ctx, grace)
	defer cancel()
	return together(ctx, s.members, func(ctx context.Context, m *member) error {
		req, err := s.workerSession(m.task)
		if err != nil {
			return err
		}
		_, err = m.worker.CreateWorkerSession(ctx, req)
		return err
	})
}

// grace is how long workers may still answer when a client has given up.
const grace = time.Second

// workerSession is what a task is told of the session. One that brings its own
// cluster has its own state, unless it wants to share.
func (s *session) workerSession(task string) (*pb.CreateWorkerSessionRequest, error) {
	spec, err := core.ParseDevice(task)
	if err != nil {
		return nil, err
	}
	isolate := s.cfg.GetIsolateSessionState()
	if s.cluster.def != nil {
		isolate = !s.cfg.GetExperimental().GetShareSessionStateInClusterspecPropagation()
	}
	return &pb.CreateWorkerSessionRequest{
		ClusterDeviceAttributes: s.sharedDevices(),
		SessionHandle:           s.handle, MasterTask: s.cluster.own, MasterIncarnation: int64(s.m.env.Devices.Client().Incarnation()),
		IsolateSessionState: isolate,
		ServerDef:           &pb.ServerDef{Cluster: s.cluster.def, Protocol: "grpc", JobName: spec.Job, TaskIndex: int32(spec.Task)},
	}, nil
}

// sharedDevices are all of the session's, if its workers are to know of each
// other's: those of TensorFlow then place nodes of functions on them.
func (s *session) sharedDevices() (all []*pb.DeviceAttributes) {
	if !s.cfg.GetShareClusterDevicesInSession() && !s.cfg.GetExperimental().GetShareClusterDevicesInSession() {
		return nil
	}
	for _, m := range s.members {
		all = append(all, m.devices...)
	}
	return all
}

// CloseSession ends a session and its steps.
func (m *Master) CloseSession(_ context.Context, req *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	if err := m.start(); err != nil {
		return nil, err
	}
	defer m.background.Done()
	s := m.remove(req.GetSessionHandle())
	if s == nil {
		return nil, core.Errorf(core.Aborted, "Session %s is not found. Possibly, this master has restarted.", req.GetSessionHandle())
	}
	s.close()
	return &pb.CloseSessionResponse{}, nil
}

// close ends the session here and at the workers.
func (s *session) close() {
	s.end(core.Errorf(core.Canceled, "Step was cancelled by an explicit call to `Session::Close()`."))
	s.leave()
}

// leaveTimeout bounds the wait for workers when a session ends. A lost worker
// must not keep a client from its next session.
const leaveTimeout = time.Second

// leave tells the workers that the session is over, and leaves its cluster. It goes on
// in the background when a worker does not answer soon. The caller must be counted by
// m.background.
func (s *session) leave() {
	left := make(chan struct{})
	s.m.background.Go(func() {
		s.deleteAtWorkers()
		s.leaveCluster()
		close(left)
	})
	patience := time.NewTimer(leaveTimeout)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
	}
}

// leaveCluster gives back what connects a session with its own cluster, when its last
// steps have been cleaned up. The caller must be counted by m.background.
func (s *session) leaveCluster() {
	if s.cluster.def == nil {
		return
	}
	s.m.background.Go(func() {
		s.trailing.Wait()
		if err := s.cluster.close(); err != nil {
			s.log.Info("leaving the session's cluster", "error", err)
		}
	})
}

// end ends the session's steps and waits for them.
func (s *session) end(why error) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(why)
	s.running.Wait()
}

// begin counts a call, which ends with s.done.
func (s *session) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return core.Errorf(core.FailedPrecondition, "Session is closed.")
	}
	s.running.Add(1)
	s.active++
	return nil
}

// cleanupTimeout is how long workers have to answer that a session is over.
const cleanupTimeout = 10 * time.Second

// deleteAtWorkers tells the workers that the session is over. One that does not
// hear it loses nothing but memory.
func (s *session) deleteAtWorkers() {
	ctx, cancel := context.WithTimeout(s.m.ctx, cleanupTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, m := range s.members {
		wg.Go(func() {
			_, err := m.worker.DeleteWorkerSession(ctx, &pb.DeleteWorkerSessionRequest{SessionHandle: s.handle})
			if err != nil {
				s.log.Info("a worker could not delete its session", "worker", m.task, "error", err)
			}
		})
	}
	wg.Wait()
}
