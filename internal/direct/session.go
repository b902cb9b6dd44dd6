// Package direct is the session that is client, master and worker in one
// process.
package direct

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf"
)

// Config says how a session works.
type Config struct {
	Devices *device.Set // nil: one CPU
	Soft    bool        // place on other devices what asks for missing ones
	Threads int         // goroutines of one operation; 0: as many as there are cores
}

// A Session runs steps of one graph, which may grow the while. All methods may
// be called from any goroutine.
type Session struct {
	source  *tf.Graph
	cfg     Config
	rt      step.Runtime
	threads *threads.Pool
	ctx     context.Context // ends when the session is closed
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	placed *graph.Graph
	size   int               // operations of source that placed has
	pinned map[string]string // devices of nodes with state
	cache  map[string]*entry
	closed bool
	steps  sync.WaitGroup
}

// entry is a signature that is being prepared or ready.
type entry struct {
	once  sync.Once
	graph *step.Graph
	err   error
}

// New returns a session on g.
func New(g *tf.Graph, cfg Config) *Session {
	if cfg.Devices == nil {
		cfg.Devices = device.CPUs("localhost", 0, 1)
	}
	s := &Session{source: g, cfg: cfg, threads: threads.Acquire(cfg.Threads), cache: map[string]*entry{}, pinned: map[string]string{}}
	s.rt = step.Runtime{Devices: cfg.Devices, Pool: memory.NewPool(poolLimit), Parallel: s.threads.ParallelFor}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// poolLimit bounds the memory that a session keeps for reuse between steps.
const poolLimit = 1 << 30

// Devices returns the session's devices.
func (s *Session) Devices() *device.Set { return s.cfg.Devices }

// Run runs a step: it feeds args, in the order of sig.Feeds, and returns the
// fetches.
func (s *Session) Run(ctx context.Context, sig pass.Signature, args []*tf.Tensor) ([]*tf.Tensor, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.steps.Done()
	g, err := s.prepare(sig)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, g, args, len(sig.Fetches))
}

func (s *Session) run(ctx context.Context, g *step.Graph, args []*tf.Tensor, fetches int) ([]*tf.Tensor, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	frame := step.NewFrame(args, fetches)
	err := g.Run(ctx, step.Args{ID: rand.Int64N(1 << 57), Rendezvous: rendezvous.NewLocal(s.cfg.Devices), Frame: frame})
	if err != nil {
		return nil, err
	}
	return frame.Results()
}

func (s *Session) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return tf.Errorf(tf.FailedPrecondition, "Session has been closed.")
	}
	s.steps.Add(1)
	return nil
}

// prepare returns the graph for a signature, made once.
func (s *Session) prepare(sig pass.Signature) (*step.Graph, error) {
	key := sig.Key()
	s.mu.Lock()
	e := s.cache[key]
	if e == nil {
		e = &entry{}
		s.cache[key] = e
	}
	s.mu.Unlock()
	e.once.Do(func() { e.graph, e.err = s.build(sig) })
	if e.err != nil {
		s.forget(key, e) // the graph may grow what is missing
	}
	return e.graph, e.err
}

func (s *Session) forget(key string, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache[key] == e {
		delete(s.cache, key)
	}
}

func (s *Session) build(sig pass.Signature) (*step.Graph, error) {
	full, err := s.extend()
	if err != nil {
		return nil, err
	}
	g, err := pass.ClientGraph(full, sig, pass.Terminals{Frame: true, ClientDevice: s.cfg.Devices.Client().Spec().String()})
	if err != nil {
		return nil, err
	}
	return s.rt.Build(g)
}

// extend places what has been added to the graph since the last time.
func (s *Session) extend() (*graph.Graph, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ops := s.source.Operations()
	if s.placed != nil && len(ops) == s.size {
		return s.placed, nil
	}
	library, producer := s.source.Library()
	g := graph.FromOperations(ops, library, producer)
	p := pass.Placer{Devices: deviceInfo(s.cfg.Devices), Soft: s.cfg.Soft, Pinned: s.pinned}
	if err := p.Place(g); err != nil {
		return nil, err
	}
	for _, n := range g.Nodes {
		if n.Def.Stateful {
			s.pinned[n.Name] = n.Device
		}
	}
	s.placed, s.size = g, len(ops)
	return g, nil
}

func deviceInfo(set *device.Set) []pass.DeviceInfo {
	out := make([]pass.DeviceInfo, len(set.List()))
	for i, d := range set.List() {
		out[i] = pass.DeviceInfo{Spec: d.Spec(), Incarnation: d.Incarnation(), Local: true}
	}
	return out
}

// Close ends running steps, waits for them, and gives back what the session
// holds. Later calls do nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.cancel(tf.Errorf(tf.Canceled, "Session has been closed."))
	s.steps.Wait()
	s.threads.Release()
	s.rt.Pool.Trim()
	for _, d := range s.cfg.Devices.List() {
		d.Resources().ClearAll()
	}
	return nil
}
