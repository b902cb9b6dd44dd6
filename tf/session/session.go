// Package session runs graphs: in this process, or on the cluster that a
// target names.
package session

import (
	"context"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops" // kernels for every op a loaded graph may name
)

// A Session runs steps of a graph. The graph may grow while steps run. All
// methods may be called from any goroutine.
type Session struct {
	g   *tf.Graph
	b   Backend
	cfg Config
}

// Feeds gives values to outputs for one step.
type Feeds map[tf.Output]tf.Value

// An Option adjusts a new session.
type Option func(*Config)

// Target makes the session run on a cluster: "grpc://host:port".
func Target(t string) Option { return func(c *Config) { c.Target = t } }

// With replaces the whole configuration.
func With(cfg Config) Option { return func(c *Config) { *c = cfg } }

// Devices gives a session in this process devices: Devices("CPU", 2).
func Devices(typ string, n int) Option {
	return func(c *Config) {
		if c.Devices == nil {
			c.Devices = map[string]int{}
		}
		c.Devices[typ] = n
	}
}

// Threads bounds the goroutines that one operation uses.
func Threads(n int) Option { return func(c *Config) { c.Threads = n } }

// New returns a session on g. It returns the error that g met while it was
// built, if any.
func New(g *tf.Graph, opts ...Option) (*Session, error) {
	if g == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a session needs a graph, got nil")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	if g.IsEager() {
		return nil, tf.Errorf(tf.InvalidArgument, "an eager graph computes as it is built, it has no sessions")
	}
	var cfg Config
	for _, o := range opts {
		o(&cfg)
	}
	f, err := findFactory(cfg.Target)
	if err != nil {
		return nil, err
	}
	b, err := f(g, cfg)
	if err != nil {
		return nil, err
	}
	return &Session{g: g, b: b, cfg: cfg}, nil
}

// Graph returns the session's graph.
func (s *Session) Graph() *tf.Graph { return s.g }

// Close ends the session; steps that are running end with an error.
func (s *Session) Close() error { return s.b.Close() }

// Run feeds values, runs what fetches ask for and returns a tensor for each:
// the value of an Output, nil for an Operation, which is only run.
func (s *Session) Run(ctx context.Context, feeds Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	c, slots, err := s.call(feeds, fetches)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	got, err := s.b.Run(ctx, c)
	if err != nil {
		return nil, s.locate(err)
	}
	return spread(got, slots), nil
}

// bounded applies the session's time limit.
func (s *Session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.cfg.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.cfg.Timeout)
}

// Fetch runs a step and returns the elements of y; what else is asked for is
// only run.
func Fetch[T tf.Elem](ctx context.Context, s *Session, feeds Feeds, y tf.Output, also ...tf.Fetchable) ([]T, error) {
	if err := y.Err(); err != nil {
		return nil, err
	}
	out, err := s.Run(ctx, feeds, append([]tf.Fetchable{y}, also...)...)
	if err != nil {
		return nil, err
	}
	return tf.Values[T](out[0])
}

// call translates feeds and fetches to names. slots says for each fetch which
// result it is, -1 for operations.
func (s *Session) call(feeds Feeds, fetches []tf.Fetchable) (c *Call, slots []int, err error) {
	if len(fetches) == 0 {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "Must specify at least one target to fetch or execute.")
	}
	c, slots = &Call{}, make([]int, len(fetches))
	if err := c.addFeeds(s.g, feeds); err != nil {
		return nil, nil, err
	}
	for i, f := range fetches {
		if slots[i], err = c.addFetch(s.g, f); err != nil {
			return nil, nil, err
		}
	}
	return c, slots, nil
}

func (c *Call) addFeeds(g *tf.Graph, feeds Feeds) error {
	type feed struct {
		name string
		t    *tf.Tensor
	}
	list := make([]feed, 0, len(feeds))
	for x, v := range feeds {
		t, err := checkFeed(g, x, v)
		if err != nil {
			return err
		}
		list = append(list, feed{x.Name(), t})
	}
	slices.SortFunc(list, func(a, b feed) int { return strings.Compare(a.name, b.name) })
	for _, f := range list {
		c.FeedNames, c.Feeds = append(c.FeedNames, f.name), append(c.Feeds, f.t)
	}
	return nil
}

// checkFeed compares a value with what it is fed for.
func checkFeed(g *tf.Graph, x tf.Output, v tf.Value) (*tf.Tensor, error) {
	if err := x.Err(); err != nil {
		return nil, err
	}
	op := x.Operation()
	fail := func(format string, args ...any) error {
		return tf.AtNode(tf.Errorf(tf.InvalidArgument, format, args...), &op.Node, nil)
	}
	if x.Graph() != g {
		return nil, fail("a feed must belong to the session's graph, %s does not", x.Name())
	}
	if v == nil {
		return nil, fail("the value fed for %s must not be nil", x.Name())
	}
	t, err := v.AsTensor()
	if err != nil {
		return nil, tf.AtNode(err, &op.Node, nil)
	}
	switch {
	case t.DType() != x.DType().Base():
		return nil, fail("the value fed for %s must have its type %v, got %v%v", x.Name(), x.DType().Base(), t.DType(), t.Shape())
	case !x.Shape().Compatible(t.Shape()):
		return nil, fail("Cannot feed value of shape %v for Tensor %s, which has shape %v", t.Shape(), x.Name(), x.Shape())
	}
	return t, nil
}

// addFetch adds f and returns which result it will be.
func (c *Call) addFetch(g *tf.Graph, f tf.Fetchable) (int, error) {
	if f == nil || f.Operation() == nil {
		return 0, tf.Errorf(tf.InvalidArgument, "a fetch must be an output or operation of the graph, got none")
	}
	op := f.Operation()
	if err := op.Err(); err != nil {
		return 0, err
	}
	if op.Graph() != g {
		return 0, tf.AtNode(tf.Errorf(tf.InvalidArgument, "a fetch must belong to the session's graph, %s does not", op.Name), &op.Node, nil)
	}
	x, ok := f.(tf.Output)
	if !ok {
		c.Targets = append(c.Targets, op.Name)
		return -1, nil
	}
	if err := x.Err(); err != nil {
		return 0, err
	}
	if k := slices.Index(c.Fetches, x.Name()); k >= 0 {
		return k, nil
	}
	c.Fetches = append(c.Fetches, x.Name())
	return len(c.Fetches) - 1, nil
}

// locate adds the program's line to an error that only names a node, as those
// that come from a cluster do.
func (s *Session) locate(err error) error {
	e := tf.AsError(err)
	if e.Node == "" || e.Pos != "" {
		return err
	}
	op := s.g.Operation(e.Node)
	if op == nil {
		return err
	}
	located := *e
	located.Pos, located.Op = op.Pos(), op.OpName()
	return &located
}
