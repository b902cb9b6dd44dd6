package direct

import (
	"context"
	"math/rand/v2"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
)

// A call is what one step needs beside its graph, in one allocation: a step of
// few nodes takes about a microsecond, of which every allocation is a part.
type call struct {
	frame   step.Frame
	ctx     sessionContext
	args    [4]*core.Tensor
	headers [1]core.Tensor // of the first args
}

// enter returns what the step uses of args, which are the program's.
func (c *call) enter(pool *memory.Pool, args []*core.Tensor) (own []*core.Tensor, err error) {
	own = append(c.args[:0], args...)
	for i, t := range own {
		if i < len(c.headers) {
			own[i], err = t.EnterAt(&c.headers[i], pool)
		} else {
			own[i], err = t.EnterFrom(pool)
		}
		if err != nil {
			release(own[:i])
			return nil, err
		}
	}
	return own, nil
}

func release(list []*core.Tensor) {
	for _, t := range list {
		t.Release()
	}
}

// runInFrame runs g with a call frame, in which args and results pass. Both are
// the program's: the step works on copies, unless the program has given args away.
func (s *Session) runInFrame(ctx context.Context, g *step.Graph, args []*core.Tensor, fetches []string, a step.Args, into *core.Tensor) ([]*core.Tensor, error) {
	c := &call{}
	own, err := c.enter(s.rt.Pool, args)
	if err != nil {
		return nil, err
	}
	c.frame.Init(own, len(fetches))
	a.Frame = &c.frame
	ctx, leave := s.within(ctx, &c.ctx)
	defer leave()
	err = s.runInRendezvous(ctx, g, fetches, a)
	release(own) // before results leave: one that was only passed on has no other owner then
	if err != nil {
		c.frame.Drop()
		return nil, err
	}
	return c.frame.Leave(into)
}

// runInRendezvous runs g with a step number and a rendezvous of its own, and ends
// both.
func (s *Session) runInRendezvous(ctx context.Context, g *step.Graph, fetches []string, a step.Args) error {
	table := s.tables.Get().(*rendezvous.Local)
	a.ID, a.Rendezvous = newStep(), table
	err := g.Run(ctx, a)
	s.rt.Kept.End(a.ID, fetches, err == nil)
	if err != nil {
		s.collectives.Cleanup(a.ID)
	}
	table.Reset()
	s.tables.Put(table)
	return err
}

// newStep returns a number that no other step is likely to have.
func newStep() int64 { return rand.Int64N(1 << 57) }

// within returns a context that ends with ctx and with the session. If ctx cannot
// end by itself, as most, that is at, which costs next to nothing.
func (s *Session) within(ctx context.Context, at *sessionContext) (context.Context, func()) {
	if ctx.Done() == nil {
		*at = sessionContext{s.ctx, ctx}
		return at, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// sessionContext is the session's context with a caller's values.
type sessionContext struct {
	context.Context
	values context.Context
}

// Value returns the caller's value of a key.
func (c sessionContext) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}
