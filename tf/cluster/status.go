package cluster

import (
	"slices"
	"sort"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// Status says how a server is.
type Status struct {
	Task, Target, Transport, Version string
	Started                          time.Time // zero: it does not serve yet
	Ready                            bool      // takes sessions and steps
	Secured                          bool      // speaks TLS
	Tasks                            []TaskAddress
	Sessions                         []SessionStatus // of the master
	WorkerSessions                   []string        // of all masters, and eager contexts
	Steps                            int64           // calls of the master's sessions under way
	WorkerSteps                      int             // that have run here and are not cleaned up
	Waits                            []Wait          // some of the receives that wait
	Waiting                          int             // how many there are
	Received                         Traffic
	Links                            LinkStatus
	RDMA                             []RDMAStats
	MemoryInUse, MemoryLimit         int64            // bytes, of the process
	Memory                           map[string]int64 // bytes that steps of a session have allocated in blocks of 64 KB and more and that are in use, by session
	Resources                        map[string]int64 // bytes in variables, queues and other resources of the task's devices, by kind, no matter who allocated them
}

// TaskAddress is a task of the cluster, and where it is.
type TaskAddress struct{ Task, Address string }

// SessionStatus says how a session of a master is.
type SessionStatus struct {
	Handle                               string
	Nodes, Functions, Signatures, Active int       // nodes and functions of the graph, signatures that steps have had, calls under way
	Used                                 time.Time // when the last call ended
}

// A Wait is a receive that waits for a value which a step sends here.
type Wait struct {
	Step   int64
	Key    string // of the rendezvous: sending device, receiving device and tensor
	Parked bool   // the step has not begun here
}

// LinkStatus says what the links of clients and other tasks hold.
type LinkStatus struct {
	Links, Calls int   // open, and under way on them
	Queued       int64 // bytes of answers that have not been taken
}

// shownWaits is how many waits a Status lists.
const shownWaits = 100

// Status returns how the server is now. It looks at all sessions and steps, so it is
// for people and monitors, not for the way of a step.
func (s *Server) Status() Status {
	m, w := s.master.Status(), s.worker.Status()
	waits, all := s.steps.Waits(shownWaits)
	out := Status{
		Task: s.task, Target: s.target, Transport: s.transport, Version: version(), Secured: s.secured,
		Tasks: s.tasks, WorkerSessions: w.Sessions, Steps: m.Steps, WorkerSteps: w.Steps, Waiting: all,
		Received: s.Received(), Links: LinkStatus(s.links.Stats()), RDMA: s.RDMAStats(), Memory: map[string]int64{},
		Resources: w.Held,
	}
	s.mu.Lock()
	out.Started, out.Ready = s.started, s.state == isStarted && !m.Draining
	s.mu.Unlock()
	for _, x := range m.Sessions {
		out.Sessions = append(out.Sessions, SessionStatus(x))
	}
	for _, x := range waits {
		out.Waits = append(out.Waits, Wait(x))
	}
	sort.Slice(out.Sessions, func(i, j int) bool { return out.Sessions[i].Handle < out.Sessions[j].Handle })
	slices.Sort(out.WorkerSessions)
	out.MemoryInUse, out.MemoryLimit = tf.MemoryUsage()
	for _, h := range memory.Sessions() {
		out.Memory[h.Name] += h.Bytes
	}
	return out
}

// Observer is told of the calls of a server or a session, see Config.Observer. The
// command gorge serve has one that keeps metrics and traces. Its methods must not wait:
//
//	Serve(ctx context.Context, method, by string) (context.Context, func(error)) // a call has come, by "grpc" or "link"; the function is told how it ends
//	Call(ctx context.Context, method string) (context.Context, func(error))      // a call is about to be made
//	Outgoing(ctx context.Context) []string                                       // names and values by turns that go with the call
//	RequestID(ctx context.Context) string                                        // what logs name the call by; "": nothing
type Observer = rpc.Observer

// Observed tells o of the calls of a session, and lets it send along what traces go
// by.
func Observed(o Observer) session.Option {
	return func(c *session.Config) { c.Observer = o }
}

// registerHealth serves grpc.health.v1: for the server as a whole, and by the names
// of its services.
func (s *Server) registerHealth() {
	s.health = rpc.NewHealth()
	healthpb.RegisterHealthServer(s.grpc, s.health)
	s.setHealth(healthpb.HealthCheckResponse_NOT_SERVING)
}

func (s *Server) setHealth(state healthpb.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", state)
	for _, name := range rpc.Services() {
		s.health.SetServingStatus(name, state)
	}
}
