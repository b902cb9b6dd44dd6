package session

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Callable is a step that has been prepared: the cheapest way to run the same
// feeds and fetches again and again. It may be called from any goroutine.
type Callable struct {
	s     *Session
	call  Call
	feeds []tf.Output
	slots []slot
	run   func(ctx context.Context, args []*core.Tensor) ([]*core.Tensor, error)
	step  preparedStep // nil: the backend does not have them
	loose preparedStep // the same for feeds of any shapes
}

// A preparedStep is a call of a session in this process.
type preparedStep interface {
	Run(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error)
	Plan(ctx context.Context) error
	Explain(ctx context.Context) (string, error)
	Release()
}

// stepPreparer is a Backend that makes them.
type stepPreparer interface{ prepareStep(c *Call) preparedStep }

// A Preparer is a Backend that can do part of the work of a call ahead.
type Preparer interface {
	Prepare(c *Call) (func(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error), error)
}

// A Planner is a Backend that can do the work of a call ahead which does not depend
// on what the call is fed.
type Planner interface {
	Plan(ctx context.Context, c *Call) error
}

// MakeCallable prepares a step that feeds the given outputs, in this order, and
// fetches what Run would.
func (s *Session) MakeCallable(feeds []tf.Output, fetches ...tf.Fetchable) (*Callable, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	var p plan
	if err := p.addFeedNames(s.g, feeds); err != nil {
		return nil, err
	}
	if err := p.addFetches(s.g, fetches); err != nil {
		return nil, err
	}
	c := &Callable{s: s, call: p.call, feeds: feeds, slots: p.slots}
	c.run = c.runCall
	if p.answered() {
		c.run = func(ctx context.Context, _ []*core.Tensor) ([]*core.Tensor, error) {
			return nil, step.Explained(ctx, ctx.Err())
		}
		return c, nil
	}
	switch b := s.b.(type) {
	case stepPreparer:
		c.step = b.prepareStep(&c.call)
		c.run = c.step.Run
		loose := c.call
		loose.AnyShapes = true
		c.loose = b.prepareStep(&loose)
	case Preparer:
		var err error
		if c.run, err = b.Prepare(&c.call); err != nil {
			return nil, s.locate(err)
		}
	}
	return c, nil
}

// addFeedNames adds outputs that each call feeds.
func (p *plan) addFeedNames(g *tf.Graph, feeds []tf.Output) error {
	for _, x := range feeds {
		if err := feedable(g, x); err != nil {
			return err
		}
		if slices.Contains(p.call.FeedNames, x.Name()) {
			return core.AtNode(tf.Errorf(tf.InvalidArgument, "Endpoint \"%s\" fed more than once.", x.Name()), &x.Operation().Node, nil)
		}
		p.call.FeedNames = append(p.call.FeedNames, x.Name())
	}
	return nil
}

// ready reports as an error that no step can run.
func (c *Callable) ready(ctx context.Context) error {
	if c == nil {
		return tf.Errorf(tf.FailedPrecondition, "there is no callable: see the error that MakeCallable returned")
	}
	return c.s.ready(ctx)
}

// Plan does what the first Run would do before it computes: it prunes, places and
// optimizes the graph and makes kernels. The first Run is then as fast as later
// ones. It returns the error that Run would return for the same reasons. Sessions on
// a cluster plan with the first Run: there Plan does nothing.
func (c *Callable) Plan(ctx context.Context) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	if len(c.call.Fetches)+len(c.call.Targets) == 0 {
		return nil
	}
	var err error
	if b, ok := c.s.b.(Planner); c.step != nil {
		err = c.step.Plan(ctx)
	} else if ok {
		err = b.Plan(ctx, &c.call)
	}
	if err != nil {
		return c.s.locate(err)
	}
	return nil
}

// Release gives up what the session in this process has prepared for the step, which
// it otherwise keeps until it is closed. A later Run prepares it again.
func (c *Callable) Release() {
	if c != nil && c.step != nil {
		c.step.Release()
		c.loose.Release()
	}
}

// Explain says, in lines of text for people to read, which operations of the step run
// as one node, which do not and why, for each device of the step: what Config.LogFusion
// logs. It plans the step, runs nothing, and keeps nothing. Functions that are called
// and not inlined are explained by the log only, when they are first called. The error
// is that of Plan; on a cluster, whose servers fuse by themselves, it is Unimplemented.
func (c *Callable) Explain(ctx context.Context) (string, error) {
	if err := c.ready(ctx); err != nil {
		return "", err
	}
	if _, ok := c.s.b.(stepPreparer); !ok {
		return "", tf.Errorf(tf.Unimplemented, "only sessions in this process explain steps: on a cluster each server fuses its own part")
	}
	if len(c.call.Fetches)+len(c.call.Targets) == 0 {
		return "nothing is run: all that is fetched is fed\n", nil
	}
	text, err := c.step.Explain(ctx)
	if err != nil {
		return "", c.s.locate(err)
	}
	return text, nil
}

func (c *Callable) runCall(ctx context.Context, args []*core.Tensor) ([]*core.Tensor, error) {
	step := c.call
	step.Feeds = args
	return c.s.b.Run(ctx, &step)
}

// Run runs the step. It takes a value for each feed and returns a tensor for
// each fetch, nil for operations.
func (c *Callable) Run(ctx context.Context, args ...*tf.Tensor) ([]*tf.Tensor, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	if len(args) != len(c.feeds) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected %d feed tensors, but got %d", len(c.feeds), len(args))
	}
	feeds := make([]*core.Tensor, len(args))
	for i, x := range c.feeds {
		if _, err := checkFeed(c.s.g, x, args[i]); err != nil {
			return nil, err
		}
		feeds[i] = (*core.Tensor)(args[i])
	}
	return c.runFed(ctx, c.run, feeds)
}

// RunAnyShapes is Run that takes values of other shapes than the graph says of its feeds,
// as sessions of TensorFlow's C++ do: for servers, whose clients may rely on it. A step for
// which nothing is known of shapes is planned when the first such values come. Sessions
// on a cluster check shapes as Run does.
func (c *Callable) RunAnyShapes(ctx context.Context, args ...*tf.Tensor) ([]*tf.Tensor, error) {
	if c == nil || c.loose == nil || len(args) != len(c.feeds) || !c.otherShapes(args) {
		return c.Run(ctx, args...)
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	feeds := make([]*core.Tensor, len(args))
	for i, x := range c.feeds {
		if args[i].DType() != x.DType().Base() {
			return c.Run(ctx, args...) // which says so
		}
		feeds[i] = (*core.Tensor)(args[i])
	}
	return c.runFed(ctx, c.loose.Run, feeds)
}

// otherShapes reports whether all feeds have values, and one has another shape than the graph
// says.
func (c *Callable) otherShapes(args []*tf.Tensor) bool {
	other := false
	for i, x := range c.feeds {
		if args[i] == nil {
			return false
		}
		other = other || !x.Shape().Compatible(args[i].Shape())
	}
	return other
}

func (c *Callable) runFed(ctx context.Context, run func(context.Context, []*core.Tensor) ([]*core.Tensor, error), feeds []*core.Tensor) ([]*tf.Tensor, error) {
	ctx, cancel := c.s.cfg.bounded(ctx)
	defer cancel()
	got, err := run(ctx, feeds)
	if err != nil {
		return nil, c.s.locate(err)
	}
	return spread(c.slots, got, feeds)
}
