package direct

import (
	"context"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
)

// A PartialRun is one step that is run in pieces: each feeds some of what was
// announced, and fetches what can be computed from that. All methods may be
// called from any goroutine.
type PartialRun struct {
	s      *Session
	books  *step.Partial
	client string // device of feeds and fetches
	from   uint64 // its incarnation
	table  *rendezvous.Local
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the step has ended, with err
	err    error

	mu   sync.Mutex
	over bool // no piece can follow
}

// PartialRun begins a step that will feed and fetch in pieces what sig lists. Its
// planning ends with ctx; the step does not.
func (s *Session) PartialRun(ctx context.Context, sig pass.Signature) (*PartialRun, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	p, g, err := s.newPartialRun(ctx, sig)
	if err != nil {
		s.steps.Done()
		return nil, err
	}
	ctx, p.cancel = context.WithCancelCause(s.ctx)
	go p.runToEnd(ctx, g, sig.Fetches)
	return p, nil
}

func (s *Session) newPartialRun(ctx context.Context, sig pass.Signature) (_ *PartialRun, _ *step.Graph, err error) {
	defer core.Recover(&err, "the planning of a graph")
	g, err := s.graphs.get(ctx, sig, inRendezvous)
	if err != nil {
		return nil, nil, err
	}
	placed, err := s.graphs.extend(graph.NewBudget(ctx, s.cfg.Limits))
	if err != nil {
		return nil, nil, err
	}
	books, err := step.NewPartial(placed, sig)
	if err != nil {
		return nil, nil, err
	}
	client := s.cfg.Devices.Client()
	return &PartialRun{
		s: s, books: books, client: client.Spec().String(), from: client.Incarnation(),
		table: rendezvous.NewLocal(s.cfg.Devices), done: make(chan struct{}),
	}, g, nil
}

// runToEnd runs the whole step. Its nodes wait for feeds as for anything else.
func (p *PartialRun) runToEnd(ctx context.Context, g *step.Graph, fetches []string) {
	defer p.s.steps.Done()
	defer p.cancel(nil)
	id := newStep()
	p.err = g.Run(ctx, step.Args{ID: id, Rendezvous: p.table, Pieces: true})
	p.s.rt.Kept.End(id, fetches, p.err == nil)
	if p.err != nil {
		p.s.collectives.Cleanup(id)
		p.table.Abort(p.err)
	}
	close(p.done)
}

var errNoPartialRun = core.Errorf(core.InvalidArgument, "Must run 'setup' before performing partial runs!")

// Run runs the next piece. One that is refused, because it feeds or fetches
// what it may not, changes nothing; any other error ends the whole step. With
// the last of the feeds and fetches the step ends, too.
func (p *PartialRun) Run(ctx context.Context, feeds []string, args []*core.Tensor, fetches []string) ([]*core.Tensor, error) {
	if err := p.s.begin(); err != nil {
		return nil, err
	}
	defer p.s.steps.Done()
	last, err := p.take(feeds, fetches)
	if err != nil {
		return nil, err
	}
	out, err := p.exchange(ctx, feeds, args, fetches)
	if err == nil && last {
		err = p.wait(ctx)
	}
	if err != nil {
		p.end(err)
		return nil, step.Explained(ctx, err)
	}
	return out, nil
}

// take notes a piece, unless none can follow.
func (p *PartialRun) take(feeds, fetches []string) (last bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false, errNoPartialRun
	}
	last, err = p.books.Take(feeds, fetches)
	p.over = last
	return last, err
}

// exchange feeds and fetches. What is fed is copied: it is read after the piece
// has ended, when the program may use its memory for something else.
func (p *PartialRun) exchange(ctx context.Context, feeds []string, args []*core.Tensor, fetches []string) (_ []*core.Tensor, err error) {
	defer core.Recover(&err, "a piece of a step") // copies may not be to be had
	for i, name := range feeds {
		t := args[i].Enter()
		err := p.table.Send(p.key(name), t, false)
		t.Release()
		if err != nil {
			return nil, err
		}
	}
	out, keys := make([]*core.Tensor, len(fetches)), make([]string, len(fetches))
	for i, name := range fetches {
		keys[i] = p.key(name)
		if k := slices.Index(keys[:i], keys[i]); k >= 0 { // it comes once only
			out[i] = out[k].Clone()
			continue
		}
		t, err := p.receive(ctx, name)
		if err != nil {
			return nil, err
		}
		out[i] = t.Leave()
	}
	return out, nil
}

// receive waits for a fetch.
func (p *PartialRun) receive(ctx context.Context, name string) (*core.Tensor, error) {
	type value struct {
		t    *core.Tensor
		dead bool
		err  error
	}
	got := make(chan value, 1)
	p.table.Recv(ctx, p.key(name), func(t *core.Tensor, dead bool, err error) { got <- value{t, dead, err} })
	v := <-got
	if v.err == nil && (v.dead || v.t == nil) {
		return nil, core.Errorf(core.InvalidArgument, "The tensor returned for %s was not valid.", name)
	}
	return v.t, v.err
}

// key returns where a tensor passes, whose name the books know to be good.
func (p *PartialRun) key(name string) string {
	name, _ = step.FullName(name)
	k := rendezvous.Key{Src: p.client, SrcIncarnation: p.from, Dst: p.client, Edge: name}
	return k.String()
}

// wait waits for the end of the step.
func (p *PartialRun) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends the step and waits until nothing of it is left.
func (p *PartialRun) end(why error) {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.cancel(why)
	<-p.done
}

// Close gives up the pieces that have not been run.
func (p *PartialRun) Close() {
	p.end(core.Errorf(core.Canceled, "PRun cancellation"))
}
