package direct

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Prepared is a step of a session that is run again and again: its graph is looked up
// once. If the session freezes variables, it has a graph with their values:
//
//	none → frozen    the first step, or Plan
//	frozen → frozen  a variable was written: the step that finds that makes it again
//	     → live      it was made too often, or cannot be: each step reads the variables
//
// Steps that begin while it is made again read the variables.
type Prepared struct {
	s      *Session
	sig    pass.Signature
	ready  atomic.Pointer[step.Graph] // reads the variables
	frozen atomic.Pointer[frozen]
	live   atomic.Bool
	making chan struct{} // holds a value while frozen is being made
	left   int           // how often it may be made again; guarded by making
}

// A graph that was made for few steps was not worth it: so many of them in a row, and
// the variables are read from then on.
const (
	maxRemade = 3
	fewSteps  = 100
)

// Prepare returns the step of a signature, for all callers of it.
func (s *Session) Prepare(sig pass.Signature) *Prepared {
	p := &Prepared{s: s, sig: sig, making: make(chan struct{}, 1), left: maxRemade}
	p.live.Store(!s.cfg.FreezeVariables || !pass.Enabled("constant_folding", s.cfg.Build.Disabled))
	return p
}

// Run feeds args, in the order of the signature's feeds, and returns the fetches.
func (p *Prepared) Run(ctx context.Context, args []*core.Tensor) ([]*core.Tensor, error) {
	if err := p.s.begin(); err != nil {
		return nil, err
	}
	defer p.s.steps.Done()
	if len(args) != len(p.sig.Feeds) {
		return nil, core.Errorf(core.InvalidArgument, "there must be a value for each feed: %d feeds, %d values", len(p.sig.Feeds), len(args))
	}
	g, err := p.graph(ctx)
	if err != nil {
		return nil, err
	}
	defer p.s.graphs.sweep()
	return p.s.runInFrame(ctx, g, args, p.sig.Fetches, step.Args{}, nil)
}

// Plan does all of the work for steps that does not depend on what they are fed: the
// graph is pruned, placed and optimized, kernels are made. The steps then find it done.
func (p *Prepared) Plan(ctx context.Context) error {
	if err := p.s.begin(); err != nil {
		return err
	}
	defer p.s.steps.Done()
	_, err := p.graph(ctx)
	return err
}

// Release forgets what was planned, for all who prepared this signature. Steps that run
// end as they would; a later one is planned again.
func (p *Prepared) Release() {
	p.s.graphs.cache.Remove(p.sig.AppendKey([]byte{byte(inFrame)}))
	p.ready.Store(nil)
	p.s.graphs.drop(p.frozen.Swap(nil))
}

// Explain plans the step anew, without keeping what it makes, and says which of its
// nodes run as one, and why others do not.
func (p *Prepared) Explain(ctx context.Context) (_ string, err error) {
	if err := p.s.begin(); err != nil {
		return "", err
	}
	defer p.s.steps.Done()
	defer core.Recover(&err, "the planning of a graph")
	var text strings.Builder
	tell := func(part string) { text.WriteString(part) }
	if !p.live.Load() {
		f, err := p.s.graphs.freeze(graph.NewBudget(ctx, p.s.cfg.Limits), p.sig, tell)
		p.s.graphs.drop(f)
		if f != nil || err != nil {
			return text.String(), err
		}
	}
	_, err = p.s.graphs.buildTelling(graph.NewBudget(ctx, p.s.cfg.Limits), p.sig, inFrame, tell)
	return text.String(), err
}

// graph returns the graph for a step that begins now.
func (p *Prepared) graph(ctx context.Context) (*step.Graph, error) {
	if !p.live.Load() {
		f := p.frozen.Load()
		if !f.current() {
			f = p.freeze(ctx, f)
		}
		if f != nil {
			f.runs.Add(1)
			return f.graph, nil
		}
	}
	return p.reading(ctx)
}

// reading returns the graph that reads the variables.
func (p *Prepared) reading(ctx context.Context) (*step.Graph, error) {
	if g := p.ready.Load(); g != nil {
		return g, nil
	}
	g, err := p.s.graphs.get(ctx, p.sig, inFrame)
	if err == nil {
		p.ready.Store(g)
	}
	return g, err
}

// freeze makes a frozen graph in the place of one that is not current, nil for the
// first. It returns nil if there is none for this step: others wait for the first one
// only.
func (p *Prepared) freeze(ctx context.Context, stale *frozen) *frozen {
	if !p.take(ctx, stale == nil) {
		return nil
	}
	defer func() { <-p.making }()
	if f := p.frozen.Load(); f != stale || p.live.Load() {
		if f.current() {
			return f
		}
		return nil
	}
	var f *frozen
	var err error
	p.s.graphs.drop(stale)
	if p.again(stale) {
		f, err = p.make(ctx)
	}
	p.frozen.Store(f)
	if f == nil && (err == nil || ctx.Err() == nil) {
		p.live.Store(true) // if it cannot be planned at all, the other graph says why
	}
	return f
}

// take begins the making of a frozen graph; it reports whether it could.
func (p *Prepared) take(ctx context.Context, wait bool) bool {
	select {
	case p.making <- struct{}{}:
		return true
	default:
	}
	if !wait {
		return false
	}
	select {
	case p.making <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// again reports whether it is worth it to make a frozen graph, after one that is stale
// or nil.
func (p *Prepared) again(stale *frozen) bool {
	switch {
	case stale == nil:
		return true
	case stale.runs.Load() >= fewSteps:
		p.left = maxRemade
	default:
		p.left--
	}
	return p.left >= 0
}

// make plans a frozen graph, until ctx or the session ends. It runs on the goroutine of a
// step, which a panic must not end.
func (p *Prepared) make(ctx context.Context) (_ *frozen, err error) {
	defer core.Recover(&err, "the planning of a graph")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.s.ctx, cancel)()
	return p.s.graphs.freeze(graph.NewBudget(ctx, p.s.cfg.Limits), p.sig, p.s.cfg.Build.LogFusion)
}
