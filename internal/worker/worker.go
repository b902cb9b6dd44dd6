// Package worker runs the parts of graphs that masters give to this task. It
// keeps what each master session has registered, runs steps of it, and serves
// what these steps send to other tasks.
//
// The methods of [Worker] are those of TensorFlow's WorkerService, in plain Go:
// a master in the same process calls them directly.
package worker

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Env is what a worker works with.
type Env struct {
	Task       string               // "/job:worker/replica:0/task:1"
	Devices    *device.Set          // of the task, by their full names
	Rendezvous *rendezvous.Manager  // of the steps that run here
	Transport  rendezvous.Transport // to the other tasks; nil if there are none
	// Alloc wraps the allocator of tensors that come from there, for a
	// transport that has memory of its own; nil: it has none.
	Alloc func(rendezvous.Alloc) rendezvous.Alloc
	// Over says how tensors get to other tasks; it is told with the devices. "":
	// nothing is.
	Over string
	// Peer returns the worker of another task, to run functions on it; nil:
	// there are none.
	Peer func(task string) (Peer, error)
	// Settle reaches those of the other tasks anew that could not be reached, before a session
	// begins; nil: there are none.
	Settle func(ctx context.Context)
	// Connect reaches the other tasks of a cluster that a session brings along,
	// in which this task is called own. Nil: sessions may not do so.
	Connect func(def *pb.ClusterDef, own string) (Cluster, error)
	// Collectives does what devices do together; nil: there is no such thing here.
	Collectives *collective.Runtime
	// CacheResponses keeps what other tasks receive until they say that it has
	// arrived, so that they can ask again.
	CacheResponses bool

	// Sessions bounds how many are open at once, eager contexts among them; 0: there
	// is no bound.
	Sessions int

	// Limits bound planning and calls of functions.
	Limits graph.Limits

	Threads int          // goroutines that one operation uses; 0: the cores
	Log     *slog.Logger // nil: nothing is logged
}

// A Worker serves one task. All methods may be called from any goroutine.
type Worker struct {
	env     Env
	threads *threads.Pool
	recent  *requestid.Recent
	ctx     context.Context // ends with Close
	cancel  context.CancelCauseFunc
	legacy  *session // of masters that open no sessions

	transfers *transferLog // over env.Transport
	responses responses

	operations atomic.Int64 // of eager contexts, that are under way

	mu       sync.Mutex
	sessions map[string]*session
	draining bool               // no new steps are taken any more
	steps    map[int64]*session // that have run here and are not cleaned up
	partial  map[int64]*partial // of them, those that run bit by bit
}

const (
	// poolLimit bounds the memory that a session keeps for reuse between steps.
	poolLimit = 1 << 30
	// trackedRequests is how many requests TensorFlow's workers remember.
	trackedRequests = 100_000
)

// New returns a worker that is ready to serve.
func New(env Env) *Worker {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	w := &Worker{
		env: env, threads: threads.Acquire(env.Threads),
		recent: requestid.NewRecent(trackedRequests), sessions: map[string]*session{}, steps: map[int64]*session{}, partial: map[int64]*partial{},
	}
	w.transfers = newTransferLog(env.Transport)
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	w.legacy, _ = w.newSession(&pb.CreateWorkerSessionRequest{}) // fails only if it brings a cluster
	return w
}

// Close ends all steps with an Unavailable error, waits for their end and drops the
// devices' resources. Later calls fail.
func (w *Worker) Close() {
	w.cancel(w.leaving())
	w.mu.Lock()
	all := w.sessions
	w.sessions = nil
	w.mu.Unlock()
	w.env.Rendezvous.CleanupAll()
	if w.env.Collectives != nil {
		w.env.Collectives.Close()
	}
	w.responses.close()
	for _, s := range all {
		s.close(context.Cause(w.ctx))
	}
	w.legacy.close(context.Cause(w.ctx))
	for _, d := range w.env.Devices.List() { // what outlives sessions, as iterators that compute in advance
		d.Resources().ClearAll()
	}
	w.threads.Release()
}

// GetStatus lists the devices of the task.
func (w *Worker) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	resp := &pb.GetStatusResponse{}
	for _, d := range w.env.Devices.List() {
		resp.DeviceAttributes = append(resp.DeviceAttributes, w.attributes(d))
	}
	return resp, nil
}

func (w *Worker) attributes(d core.Device) *pb.DeviceAttributes {
	return &pb.DeviceAttributes{
		Name: d.Spec().String(), DeviceType: d.Spec().Type, MemoryLimit: d.MemoryLimit(),
		Incarnation: d.Incarnation(), Locality: &pb.DeviceLocality{},
		PhysicalDeviceDesc: w.env.Over,
	}
}

// CleanupAll clears containers of all devices, the default one if none is
// named. The empty name is not that of the default one, but of no container.
func (w *Worker) CleanupAll(_ context.Context, req *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error) {
	for _, d := range w.env.Devices.List() {
		if len(req.GetContainer()) == 0 {
			d.Resources().Clear("") // which stands for the default here
		}
		for _, name := range req.GetContainer() {
			if name != "" {
				d.Resources().Clear(name)
			}
		}
	}
	return &pb.CleanupAllResponse{}, nil
}
