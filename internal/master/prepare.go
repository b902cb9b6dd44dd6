package master

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// prepared is the graph of a signature, registered at the workers, or on its
// way to be.
type prepared struct {
	done chan struct{} // closed when parts or err are set
	// cancel ends the preparation, which begins in the session's context.
	cancel  context.CancelCauseFunc
	waiting int // callers that wait for it, guarded by the session's mu
	parts   []registered
	// graphKey tells masters that do things together in one step which it is; 0:
	// the graph does no such thing.
	graphKey int64
	err      error
	runs     atomic.Int64   // steps so far
	uses     sync.WaitGroup // steps of a callable
}

// registered is a part that a worker can run.
type registered struct {
	part
	worker Worker
	handle string
}

// prepare returns the graph of a signature, which the first step that needs
// them has made. The others wait for that, as long as they like. The key of what
// it does together with other masters is as asked, or follows from the graph.
func (s *session) prepare(ctx context.Context, sig pass.Signature, graphKey int64) (*prepared, error) {
	key := sig.Key() + keySuffix(graphKey)
	s.mu.Lock()
	p := s.steps[key]
	if p == nil {
		p = s.begun(sig, graphKey, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.steps[key] == p {
				delete(s.steps, key) // the graph may grow what is missing
			}
		})
		s.steps[key] = p
	}
	p.waiting++
	s.mu.Unlock()
	select {
	case <-p.done:
		return p, p.err
	case <-ctx.Done():
		s.giveUp(p, key, context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
}

// giveUp counts a caller that does not wait for p any more. With the last one its
// preparation ends; a later caller begins another.
func (s *session) giveUp(p *prepared, key string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.waiting--; p.waiting > 0 {
		return
	}
	select {
	case <-p.done:
		return
	default:
	}
	if s.steps[key] == p {
		delete(s.steps, key)
	}
	p.cancel(why)
}

// prepareOwn is prepare for one caller, which gives the graph back with s.forget.
func (s *session) prepareOwn(ctx context.Context, sig pass.Signature, graphKey int64) (*prepared, error) {
	p := s.begun(sig, graphKey, func() {})
	select {
	case <-p.done:
		return p, p.err
	case <-ctx.Done():
		p.cancel(context.Cause(ctx))
		s.forget(p)
		return nil, context.Cause(ctx)
	}
}

// begun begins to prepare a graph. It works for all callers that wait, so not in the
// context of one of them, whose calls are counted, so that s.running is not zero.
func (s *session) begun(sig pass.Signature, graphKey int64, failed func()) *prepared {
	p := &prepared{done: make(chan struct{}), graphKey: graphKey}
	var ctx context.Context
	ctx, p.cancel = context.WithCancelCause(s.ctx)
	s.running.Go(func() {
		defer close(p.done)
		defer p.cancel(nil)
		if p.err = s.build(ctx, p, sig); p.err != nil {
			failed()
		}
	})
	return p
}

// forget takes a graph that is not run any more back from the workers. A worker
// that does not hear it loses nothing but memory until the session ends.
func (s *session) forget(p *prepared) {
	if s.m.start() != nil {
		return
	}
	s.trailing.Add(1)
	go func() {
		defer s.m.background.Done()
		defer s.trailing.Done()
		<-p.done
		p.uses.Wait()
		s.deregister(p.parts)
	}()
}

func (s *session) deregister(parts []registered) {
	ctx, cancel := context.WithTimeout(s.ctx, cleanupTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, p := range parts {
		if p.handle == "" {
			continue
		}
		wg.Go(func() {
			req := &pb.DeregisterGraphRequest{SessionHandle: s.handle, CreateWorkerSessionCalled: true, GraphHandle: p.handle}
			if _, err := p.worker.DeregisterGraph(ctx, req); err != nil && s.ctx.Err() == nil {
				s.log.Info("a worker could not forget a graph", "worker", p.task, "error", err)
			}
		})
	}
	wg.Wait()
}

// build plans a step and registers its parts.
func (s *session) build(ctx context.Context, p *prepared, sig pass.Signature) (err error) {
	defer core.Recover(&err, "the planning of a step")
	s.mu.Lock()
	g := s.placed
	s.mu.Unlock()
	parts, err := s.layout.split(g.Within(graph.NewBudget(ctx, s.m.env.Limits)), sig, s.m.env.Optimize)
	if err != nil {
		return err
	}
	if p.graphKey == 0 {
		p.graphKey = collectiveKey(parts, g.Library)
	}
	p.parts, err = s.register(ctx, parts, p.graphKey)
	return err
}

func (s *session) register(ctx context.Context, parts []part, graphKey int64) ([]registered, error) {
	out := make([]registered, len(parts))
	members := make([]member, len(parts))
	index := make(map[string]int, len(parts))
	for i, p := range parts {
		members[i] = s.member(p.task)
		index[p.task] = i
	}
	err := each(ctx, members, func(ctx context.Context, m *member) error {
		i := index[m.task]
		handle, err := s.registerPart(ctx, m.worker, parts[i], graphKey)
		out[i] = registered{part: parts[i], worker: m.worker, handle: handle}
		return err
	})
	if err != nil {
		s.deregister(out) // what other workers have taken
		return nil, err
	}
	return out, nil
}

// member returns the member for a task, which layout knows to exist.
func (s *session) member(task string) member {
	for _, m := range s.members {
		if m.task == task {
			return m
		}
	}
	return member{task: task}
}

func (s *session) registerPart(ctx context.Context, w Worker, p part, graphKey int64) (handle string, err error) {
	def, err := p.graph.Proto()
	if err != nil {
		return "", err
	}
	resp, err := w.RegisterGraph(ctx, &pb.RegisterGraphRequest{
		SessionHandle: s.handle, CreateWorkerSessionCalled: true, GraphDef: def,
		GraphOptions: s.cfg.GetGraphOptions(), ConfigProto: s.cfg, CollectiveGraphKey: graphKey,
	})
	return resp.GetGraphHandle(), err
}
