package eagerservice

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Env is what a service works with.
type Env struct {
	Worker *worker.Worker // the task's
	// Connect reaches the eager services of the other tasks of a client's
	// cluster; nil: functions cannot use them.
	Connect func(def *pb.ClusterDef) (Peers, error)
	// Client tells who makes a call: the same for all calls of one client. nil:
	// all are of the same.
	Client func(context.Context) string
	Log    *slog.Logger // nil: nothing is logged
}

// A Service serves one task. All methods may be called from any goroutine.
type Service struct {
	env Env

	mu       sync.Mutex
	contexts map[uint64]*Context
	closed   bool
}

// New returns a service that is ready to serve.
func New(env Env) *Service {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{env: env, contexts: map[uint64]*Context{}}
}

var errShutDown = core.Errorf(core.Unavailable, "the server is shutting down")

// Close ends all contexts. Later calls fail.
func (s *Service) Close() {
	s.mu.Lock()
	all := s.contexts
	s.contexts, s.closed = nil, true
	s.mu.Unlock()
	for _, c := range all {
		c.close(errShutDown)
	}
}

// find returns the context of an ID, and notes that it has been used.
func (s *Service) find(id uint64) (*Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShutDown
	}
	c := s.contexts[id]
	if c == nil {
		return nil, notFound(id)
	}
	c.touch()
	return c, nil
}

func notFound(id uint64) error {
	return core.Errorf(core.Aborted, "Unable to find a context_id matching the specified one (%d). Perhaps the worker was restarted, or the context was GC'd?", id)
}

// take takes a context out, if it is still the one that is meant.
func (s *Service) take(c *Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contexts[c.id] != c {
		return false
	}
	delete(s.contexts, c.id)
	return true
}

// CreateContext opens a context for a client.
func (s *Service) CreateContext(ctx context.Context, req *pb.CreateContextRequest) (*pb.CreateContextResponse, error) {
	if err := s.makeRoom(req); err != nil {
		return nil, err
	}
	client := s.client(ctx)
	if req.GetClearExistingContexts() {
		s.clear(client)
	}
	c, err := s.newContext(req, client)
	if err != nil {
		return nil, err
	}
	if err := s.add(c); err != nil {
		c.close(err)
		return nil, err
	}
	s.env.Log.Info("Creating eager context", "context", c.id)
	return &pb.CreateContextResponse{DeviceAttributes: c.session.Attributes()}, nil
}

// makeRoom closes an older context of the same ID. A client makes one again when
// it has lost its worker and missed changes of the cluster.
func (s *Service) makeRoom(req *pb.CreateContextRequest) error {
	s.mu.Lock()
	old := s.contexts[req.GetContextId()]
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	if req.GetContextViewId() < old.viewID() {
		return alreadyExists(req.GetContextId())
	}
	if s.take(old) {
		old.close(core.Errorf(core.Aborted, "the context %d has been replaced", old.id))
	}
	return nil
}

func alreadyExists(id uint64) error {
	return core.Errorf(core.InvalidArgument, "EagerService:CreateContext failed. Context id: <%d> already exists.", id)
}

func (s *Service) client(ctx context.Context) string {
	if s.env.Client == nil {
		return ""
	}
	return s.env.Client(ctx)
}

// clear ends the contexts of a client. TensorFlow's servers end all contexts and
// worker sessions of all clients, and drop all resources.
func (s *Service) clear(client string) {
	s.mu.Lock()
	var own []*Context
	for id, c := range s.contexts {
		if c.client == client {
			own = append(own, c)
			delete(s.contexts, id)
		}
	}
	s.mu.Unlock()
	for _, c := range own {
		c.close(core.Errorf(core.Aborted, "the context %d has been cleared", c.id))
	}
}

func (s *Service) add(c *Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errShutDown
	case s.contexts[c.id] != nil:
		return alreadyExists(c.id)
	}
	s.contexts[c.id] = c
	c.watch(func() { s.expire(c) })
	return nil
}

// expire closes a context whose client is gone.
func (s *Service) expire(c *Context) {
	if s.take(c) {
		s.env.Log.Info("closing an unused eager context", "context", c.id, "for", c.keepAlive)
		c.close(core.Errorf(core.Aborted, "the context %d has not been used for %v", c.id, c.keepAlive))
	}
}

// UpdateContext tells a context that its cluster has changed.
func (s *Service) UpdateContext(_ context.Context, req *pb.UpdateContextRequest) (*pb.UpdateContextResponse, error) {
	c, err := s.find(req.GetContextId())
	if err != nil {
		return nil, err
	}
	if err := c.update(req); err != nil {
		return nil, err
	}
	resp := &pb.UpdateContextResponse{}
	if len(req.GetClusterDeviceAttributes()) > 0 {
		resp.DeviceAttributes = c.session.Attributes()
	}
	return resp, nil
}

// KeepAlive keeps a context from being closed, and tells which view of the cluster
// it has.
func (s *Service) KeepAlive(_ context.Context, req *pb.KeepAliveRequest) (*pb.KeepAliveResponse, error) {
	c, err := s.find(req.GetContextId())
	if err != nil {
		return nil, err
	}
	return &pb.KeepAliveResponse{ContextViewId: c.viewID()}, nil
}

// CloseContext closes a context. That it is not there, or has a later view, is no
// error.
func (s *Service) CloseContext(_ context.Context, req *pb.CloseContextRequest) (*pb.CloseContextResponse, error) {
	c, err := s.find(req.GetContextId())
	if err == nil && req.GetContextViewId() >= c.viewID() && s.take(c) {
		c.close(core.Errorf(core.Canceled, "the context %d has been closed", c.id))
	}
	return &pb.CloseContextResponse{}, nil
}

// WaitQueueDone waits until all entries that have come are done, which they are:
// each is done before it is answered.
func (s *Service) WaitQueueDone(_ context.Context, req *pb.WaitQueueDoneRequest) (*pb.WaitQueueDoneResponse, error) {
	if _, err := s.find(req.GetContextId()); err != nil {
		return nil, err
	}
	if len(req.GetOpId()) > 0 {
		return nil, core.Errorf(core.Unimplemented, "EagerServiceImpl::WaitQueueDone is not implemented for particular op IDs.")
	}
	return &pb.WaitQueueDoneResponse{}, nil
}

func sessionName(id uint64) string { return fmt.Sprintf("eager_%d", id) }
