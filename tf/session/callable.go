package session

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
)

// A Callable is a step that has been prepared: the cheapest way to run the same
// feeds and fetches again and again. It may be called from any goroutine.
type Callable struct {
	s     *Session
	call  Call
	feeds []tf.Output
	slots []int // which result each fetch is, -1 for operations
	run   func(ctx context.Context, args []*tf.Tensor) ([]*tf.Tensor, error)
}

// A Preparer is a Backend that can do part of the work of a call ahead.
type Preparer interface {
	Prepare(c *Call) (func(ctx context.Context, feeds []*tf.Tensor) ([]*tf.Tensor, error), error)
}

// MakeCallable prepares a step that feeds the given outputs, in this order, and
// fetches what Run would.
func (s *Session) MakeCallable(feeds []tf.Output, fetches ...tf.Fetchable) (*Callable, error) {
	call, slots, err := s.call(nil, fetches)
	if err != nil {
		return nil, err
	}
	c := &Callable{s: s, call: *call, feeds: feeds, slots: slots}
	for _, x := range feeds {
		if err := x.Err(); err != nil {
			return nil, err
		}
		c.call.FeedNames = append(c.call.FeedNames, x.Name())
	}
	c.run = func(ctx context.Context, args []*tf.Tensor) ([]*tf.Tensor, error) {
		step := c.call
		step.Feeds = args
		return s.b.Run(ctx, &step)
	}
	if p, ok := s.b.(Preparer); ok {
		if c.run, err = p.Prepare(&c.call); err != nil {
			return nil, s.locate(err)
		}
	}
	return c, nil
}

// Run runs the step. It takes a value for each feed and returns a tensor for
// each fetch, nil for operations.
func (c *Callable) Run(ctx context.Context, args ...*tf.Tensor) ([]*tf.Tensor, error) {
	if len(args) != len(c.feeds) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected %d feed tensors, but got %d", len(c.feeds), len(args))
	}
	for i, x := range c.feeds {
		if _, err := checkFeed(c.s.g, x, args[i]); err != nil {
			return nil, err
		}
	}
	ctx, cancel := c.s.bounded(ctx)
	defer cancel()
	got, err := c.run(ctx, args)
	if err != nil {
		return nil, c.s.locate(err)
	}
	return spread(got, c.slots), nil
}

// spread puts results where they were asked for.
func spread(got []*tf.Tensor, slots []int) []*tf.Tensor {
	out := make([]*tf.Tensor, len(slots))
	for i, k := range slots {
		if k >= 0 {
			out[i] = got[k]
		}
	}
	return out
}
