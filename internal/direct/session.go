// Package direct is the session that is client, master and worker in one
// process.
package direct

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Config says how a session works.
type Config struct {
	Devices *device.Set // nil: one CPU
	Threads int         // goroutines of one operation; 0: as many as there are cores
	InterOp int         // operations of one device at once; 0: as Threads
	// Pools gives, instead of InterOp, bounds that each step chooses from.
	Pools []int
	// CostModelEvery is after how many steps one reports what nodes cost; 0: none does.
	CostModelEvery int64
	// LogPlacement is told where nodes have been placed; nil: no log.
	LogPlacement func(string)
	// Build says how graphs are made ready to run, those of functions included.
	Build step.BuildOptions
	// CollectivesInOrder makes reductions of a device run one after the other.
	CollectivesInOrder bool
	// Limits bound planning and calls of functions.
	Limits graph.Limits
	// FreezeVariables lets prepared steps that change no variables have their values as
	// constants, until they change; FoldNorms lets these compute batch normalizations
	// in advance.
	FreezeVariables, FoldNorms bool
}

// A Session runs steps of one graph, which may grow meanwhile. All methods may
// be called from any goroutine.
type Session struct {
	cfg         Config
	rt          step.Runtime
	threads     *threads.Pool
	graphs      graphs
	tables      sync.Pool // of *rendezvous.Local
	collectives *collective.Runtime
	ctx         context.Context // ends when the session is closed
	cancel      context.CancelCauseFunc

	mu       sync.Mutex
	closed   bool
	steps    sync.WaitGroup
	reported atomic.Int64 // steps that could have reported costs
}

// poolLimit bounds the memory that a session keeps for reuse between steps.
const poolLimit = 1 << 30

// opened counts sessions, for their names in reports.
var opened atomic.Int64

func nextName() string { return fmt.Sprintf("session %d", opened.Add(1)) }

// New returns a session on g.
func New(g *tf.Graph, cfg Config) *Session {
	if cfg.Devices == nil {
		cfg.Devices = device.CPUs("localhost", 0, 1)
	}
	s := &Session{cfg: cfg, threads: threads.Acquire(cfg.Threads)}
	s.rt = step.Runtime{InProcess: true, Limits: cfg.Limits, Devices: cfg.Devices, Pool: memory.NewSessionPool(poolLimit, nextName()), Parallel: s.threads.ParallelFor, Begin: s.threads.Begin, Workers: workers(&cfg)}
	if s.threads.Limit() > 1 {
		s.rt.Alone = s.threads.Alone
	}
	s.collectives = collective.New(collective.Env{Lookup: cfg.Devices.Lookup})
	s.rt.Collectives, s.rt.Kept = s.collectives, &step.Kept{}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.graphs = graphs{source: g, cfg: &s.cfg, rt: &s.rt, ctx: s.ctx, steps: &s.steps, placing: make(chan struct{}, 1), pinned: map[string]string{}}
	s.tables.New = func() any { return rendezvous.NewLocal(cfg.Devices) }
	return s
}

// workers bounds what the executors of a session do at once, whatever its steps
// choose.
func workers(cfg *Config) int {
	if len(cfg.Pools) == 0 {
		return cmp.Or(cfg.InterOp, cfg.Threads)
	}
	if slices.Contains(cfg.Pools, 0) {
		return 0
	}
	return slices.Max(cfg.Pools)
}

// Devices returns the session's devices.
func (s *Session) Devices() *device.Set { return s.cfg.Devices }

// Run runs a step: it feeds args, in the order of sig.Feeds, and returns the
// fetches.
func (s *Session) Run(ctx context.Context, sig pass.Signature, args []*core.Tensor) ([]*core.Tensor, error) {
	return s.RunInto(ctx, sig, args, nil)
}

// RunInto is Run that returns the first fetch in memory of the caller's, unless
// into is nil.
func (s *Session) RunInto(ctx context.Context, sig pass.Signature, args []*core.Tensor, into *core.Tensor) ([]*core.Tensor, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.steps.Done()
	g, err := s.prepare(ctx, sig, args)
	if err != nil {
		return nil, err
	}
	return s.runInFrame(ctx, g, args, sig.Fetches, step.Args{}, into)
}

// prepare returns the graph of a step that feeds args.
func (s *Session) prepare(ctx context.Context, sig pass.Signature, args []*core.Tensor) (*step.Graph, error) {
	if len(args) != len(sig.Feeds) {
		return nil, core.Errorf(core.InvalidArgument, "there must be a value for each feed: %d feeds, %d values", len(sig.Feeds), len(args))
	}
	return s.graphs.get(ctx, sig, inFrame)
}

func (s *Session) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return core.Errorf(core.Canceled, "Session has been closed.")
	}
	s.steps.Add(1)
	return nil
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
	s.cancel(core.Errorf(core.Canceled, "Step was cancelled by an explicit call to `Session::Close()`."))
	s.steps.Wait()
	s.rt.Kept.Close()
	s.threads.Release()
	s.rt.Pool.Close()
	for _, d := range s.cfg.Devices.List() {
		d.Resources().ClearAll()
	}
	return nil
}
