package cluster

import (
	"errors"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/eagerservice"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops/all" // kernels for every op a client may bring
)

// A Server is one task of a cluster: a worker for all masters, and a master for
// its clients. It is new until Start, and stopped for good after Stop. All
// methods may be called from any goroutine.
type Server struct {
	task      string
	target    string
	listener  net.Listener
	grpc      *grpc.Server
	links     rpc.LinkServer // at grpc's port
	worker    *worker.Worker
	master    *master.Master
	service   *masterService // the master as clients see it
	eager     *eagerservice.Service
	channels  *rpc.Channels
	dial      rpc.DialConfig // of channels
	retries   int            // of receives
	peersOf   *allowedPeers  // that clusters of sessions may have
	grace     time.Duration  // of steps under way when it stops
	exitWith  string         // task whose end is the server's; "": none
	verbs     *verbs.Manager // nil unless tensors go by RDMA
	transport string         // what Transport returns
	log       *slog.Logger
	health    *rpc.Health
	steps     *rendezvous.Manager
	tasks     []TaskAddress
	secured   bool // speaks TLS

	mu       sync.Mutex
	state    state
	started  time.Time
	serving  sync.WaitGroup
	lending  sync.WaitGroup // of values that other tasks wait for by RDMA
	stopping chan struct{}  // closed when Stop begins
	stopped  chan struct{}  // and when all has ended
}

type state int

const (
	isNew state = iota
	isStarted
	isStopped
)

// NewServer returns a server that has its port, but does not serve before
// Start. It has to be stopped, started or not.
func NewServer(c Config) (*Server, error) {
	address, err := c.check()
	if err != nil {
		return nil, err
	}
	devices, err := device.Make(c.Job, c.Task, c.Devices)
	if err != nil {
		return nil, err
	}
	lis, err := c.listen(address)
	if err != nil {
		return nil, err
	}
	s := &Server{task: taskName(c.Job, c.Task), target: targetOf(address, lis), listener: lis, stopping: make(chan struct{}), stopped: make(chan struct{})}
	s.log = slog.New(slog.DiscardHandler)
	if c.Log != nil {
		s.log = slog.New(c.Log)
	}
	s.log = s.log.With("task", s.task)
	s.warnOpen(&c)
	s.grace = c.Grace
	s.exitWith, _ = watched(c.ExitWith) // which check has seen
	if err := s.assemble(&c, devices); err != nil {
		lis.Close()
		return nil, err
	}
	return s, nil
}

// targetOf returns what clients connect to: the host of the server's address,
// and the port that it really has.
func targetOf(address string, lis net.Listener) string {
	host, _, _ := net.SplitHostPort(address)
	if a, ok := lis.Addr().(*net.TCPAddr); ok {
		return "grpc://" + net.JoinHostPort(host, strconv.Itoa(a.Port))
	}
	return "grpc://" + address
}

// assemble makes worker, master and gRPC server know each other.
func (s *Server) assemble(c *Config, devices *device.Set) error {
	s.dial, s.retries = c.dialing(), c.Retries
	s.peersOf = newAllowedPeers(c)
	s.channels = rpc.NewChannels(addressBook(c.Cluster), s.dial)
	serving := c.serving(s.log)
	s.links = rpc.NewLinkServer(serving)
	if !c.NoLinks {
		serving.Links = &s.links
	}
	s.grpc = grpc.NewServer(rpc.ServerOptions(serving)...)
	s.registerHealth()
	s.steps, s.secured, s.tasks = rendezvous.NewManager(0), c.TLS != nil || c.Security != nil, c.Cluster.list()
	env := worker.Env{Task: s.task, Devices: devices, Rendezvous: s.steps, Threads: c.Threads, Limits: graph.Limits(c.Limits), Sessions: c.Quotas.sessions(), Log: s.log, Connect: s.joinAsWorker, CacheResponses: c.CacheResponses}
	env.Peer, env.Settle = s.peers(s.task, s.channels), s.channels.Settle
	var err error
	if env.Collectives, err = s.newCollectives(c, devices); err != nil {
		return errors.Join(err, s.channels.Close())
	}
	if err := s.connect(c, &env); err != nil {
		return err
	}
	s.worker = worker.New(env)
	s.master = master.New(master.Env{
		Task: s.task, Devices: devices, Config: c.defaults, Log: s.log, Connect: s.joinAsMaster, SessionTimeout: c.SessionTimeout, Sessions: c.Quotas.sessions(), Steps: c.Quotas.steps(), Limits: graph.Limits(c.Limits), Sequences: sequences(c, env.Collectives),
		Workers: &workers{own: s.task, worker: s.worker, cache: s.channels, tasks: c.Cluster.tasks()},
	})
	s.service = &masterService{Master: s.master}
	w := &workerService{Worker: s.worker}
	rpc.RegisterMaster(s.grpc, s.service)
	rpc.RegisterMaster(s.links, s.service)
	rpc.RegisterWorker(s.grpc, w)
	rpc.RegisterWorker(s.links, w)
	s.eager = eagerservice.New(eagerservice.Env{Worker: s.worker, Connect: s.joinEager, Client: clientOf, Log: s.log})
	rpc.RegisterEager(s.grpc, eagerService{s.eager})
	rpc.RegisterEager(s.links, eagerService{s.eager})
	return nil
}

// connect gives the worker the transport that the protocol means.
func (s *Server) connect(c *Config, env *worker.Env) (err error) {
	plain := rpc.NewTransport(s.channels, s.retries)
	env.Transport, s.transport = plain, protocolGRPC
	if c.Protocol != protocolVerbs {
		return nil
	}
	if s.verbs, err = s.newVerbs(c, plain); err != nil {
		if end := s.channels.Close(); end != nil {
			return errors.Join(err, end)
		}
		return err
	}
	if s.verbs != nil {
		env.Transport, env.Alloc = s.verbs, s.verbs.Alloc
	}
	env.Over = s.transport
	return nil
}

// Transport says how tensors get to other tasks: "grpc", or which RDMA device is
// used.
func (s *Server) Transport() string { return s.transport }

// addressBook returns the function that finds the address of a task.
func addressBook(spec Spec) func(task string) (string, error) {
	all := spec.addresses()
	return func(task string) (string, error) {
		if addr := all[task]; addr != "" {
			return addr, nil
		}
		return "", tf.Errorf(tf.NotFound, "the cluster has no task %s", task)
	}
}

// Traffic is what a task has received from others in steps.
type Traffic struct {
	Tensors int64 // dead values are among them
	Bytes   int64 // of elements; headers are not counted
}

// Received returns what has been received since the server was made.
func (s *Server) Received() Traffic {
	tensors, bytes := s.worker.Received()
	return Traffic{tensors, bytes}
}

// Target returns what sessions connect to: "grpc://host:port".
func (s *Server) Target() string { return s.target }

// Start begins to serve. Starting a server that has been started does nothing.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case isStarted:
		return nil
	case isStopped:
		return tf.Errorf(tf.FailedPrecondition, "Server has stopped.")
	}
	s.state, s.started = isStarted, time.Now()
	s.setHealth(healthpb.HealthCheckResponse_SERVING)
	s.serving.Go(s.serve)
	if s.exitWith != "" {
		s.watch()
	}
	remote.Serve(s.target, s.service)
	s.log.Info("Started server with target: "+s.target, "transport", s.transport)
	return nil
}

// serve answers until the server is stopped.
func (s *Server) serve() {
	if err := s.grpc.Serve(s.listener); err != nil {
		s.log.Error("the server cannot serve any more", "error", err)
	}
}
