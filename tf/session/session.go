// Package session runs graphs: in this process, or on the cluster that a
// target names.
//
//	s, err := session.New(g) // returns the first mistake that was made in g
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	_, err = s.Run(ctx, nil, tf.InitializeAll(g))
//	...
//	out, err := s.Run(ctx, session.Feeds{x: batch}, loss, accuracy, step)
//
// A step is one call of [Session.Run]. It takes a tensor for each fed Output
// (tf.FromSlice and tf.TensorOf make them of Go slices), and returns a tensor
// for each fetched Output and nil for each Operation. [Fetch] returns the
// elements of one Output as a slice, [FetchAs] fills a struct, [FetchInto]
// writes to memory of the program's. [Session.MakeCallable] prepares a step that
// is run often. Many goroutines may run steps of a session at once.
//
// Variables of a session in this process are its own: another session on the
// same graph does not see their values. Those of a cluster live on its servers.
// [Config] lists all options: devices, threads, limits, logs.
package session

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops" // kernels for the usual ops; tf/ops/all has the others
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Session runs steps of a graph. The graph may grow while steps run. All
// methods may be called from any goroutine.
type Session struct {
	g      *tf.Graph
	b      Backend
	cfg    Config
	closed atomic.Bool
	retire func() // ends an interactive session's turn as its graph's default
}

// An Option adjusts a new session.
type Option func(*Config)

// Target makes the session run on a cluster: "grpc://host:port". The program has to import
// package tf/cluster/client, or tf/cluster.
func Target(t string) Option { return func(c *Config) { c.Target = t } }

// With sets the fields of cfg that are not zero. Options add up: the later one
// counts where two set the same field.
func With(cfg Config) Option {
	return func(c *Config) {
		from, to := reflect.ValueOf(cfg), reflect.ValueOf(c).Elem()
		for i := range from.NumField() {
			if f := from.Field(i); !f.IsZero() {
				to.Field(i).Set(f)
			}
		}
	}
}

// Timeout bounds each step and each call to a cluster. What takes longer ends with the
// error DeadlineExceeded.
func Timeout(d time.Duration) Option { return func(c *Config) { c.Timeout = d } }

// StartTimeout bounds how long the first step waits for the tasks of a cluster:
// [DefaultStartTimeout] without it, for ever if d is negative.
func StartTimeout(d time.Duration) Option { return func(c *Config) { c.StartTimeout = d } }

// TLS secures the connection to a cluster. For certificates that are replaced while the
// session is open, and for tokens, see cluster.Secured or client.Secured.
func TLS(cfg *tls.Config) Option { return func(c *Config) { c.TLS = cfg } }

// KeepAlive says how long a cluster's server may be silent before it is asked
// whether it is there, and how long it may take to answer. 0 stands for 5 and 10
// seconds; with a negative silence it is never asked.
func KeepAlive(silence, timeout time.Duration) Option {
	return func(c *Config) { c.KeepAlive, c.KeepAliveTimeout = silence, timeout }
}

// DeviceFilters restricts the tasks of a cluster that take part:
// DeviceFilters("/job:ps", "/job:worker/task:0").
func DeviceFilters(filters ...string) Option {
	return func(c *Config) { c.DeviceFilters = slices.Clone(filters) }
}

// Log sets what handles the session's log records, instead of slog's default logger.
func Log(h slog.Handler) Option { return func(c *Config) { c.Log = h } }

// Devices gives a session in this process devices: Devices("CPU", 2).
func Devices(typ string, n int) Option {
	return func(c *Config) {
		devices := maps.Clone(c.Devices) // it may be the program's map
		if devices == nil {
			devices = map[string]int{}
		}
		devices[typ] = n
		c.Devices = devices
	}
}

// Threads bounds the goroutines that one operation uses; without it, and at most, these
// are GOMAXPROCS. In process, steps use one thread while that takes less time than more do,
// as it may when other programs want the processors: trials find that out, which cost about half a
// percent. Results are the same. On a cluster it has no effect: there the servers' own options count.
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
	b, cfg, err := openBackend(g, opts)
	if err != nil {
		return nil, err
	}
	return &Session{g: g, b: b, cfg: cfg}, nil
}

// openBackend returns the backend that opts ask for, and what they say together.
func openBackend(g *tf.Graph, opts []Option) (b Backend, cfg Config, err error) {
	for i, o := range opts {
		if o == nil {
			return nil, cfg, tf.Errorf(tf.InvalidArgument, "options of a session must not be nil, number %d of %d is", i, len(opts))
		}
		o(&cfg)
	}
	if err := cfg.checkServed(); err != nil {
		return nil, cfg, err
	}
	f, err := findFactory(cfg.Target)
	if err != nil {
		return nil, cfg, err
	}
	b, err = f(g, cfg)
	return b, cfg, err
}

// Graph returns the session's graph, nil if there is no session.
func (s *Session) Graph() *tf.Graph {
	if s == nil {
		return nil
	}
	return s.g
}

// Close ends the session: steps that are running end with an error, and what
// the session alone holds is given back. The graph stays, and so do other
// sessions on it. Closing again does nothing. Close waits for steps, so that a
// function which a step calls, such as a kernel or a generator of data, must
// not call it.
func (s *Session) Close() error {
	if s == nil || s.closed.Swap(true) {
		return nil
	}
	if s.retire != nil {
		s.retire()
	}
	return s.b.Close()
}

// Run feeds values, runs what fetches ask for and returns a tensor for each:
// the value of an Output, nil for an Operation, which is only run. Any output
// may be fed, and one that is also fetched is what was fed.
func (s *Session) Run(ctx context.Context, feeds Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	out, _, err := s.runPlanned(ctx, nil, feeds, fetches, nil)
	return out, err
}

// runPlanned plans the feeds and fetches of a step and runs it by the backend,
// with metadata if there are options. The first fetch goes to into, if that is
// not nil.
func (s *Session) runPlanned(ctx context.Context, o *pb.RunOptions, feeds Feeds, fetches []tf.Fetchable, into *core.Tensor) ([]*tf.Tensor, *RunMetadata, error) {
	if err := s.ready(ctx); err != nil {
		return nil, nil, err
	}
	p, err := s.plan(feeds, fetches)
	if err != nil {
		return nil, nil, err
	}
	p.call.Options, p.into = o, into
	if p.slots[0].from == returned {
		p.call.Into = into
	}
	if p.answered() {
		if err := step.Explained(ctx, ctx.Err()); err != nil {
			return nil, nil, s.locate(err)
		}
		p.call.Metadata = &RunMetadata{}
		return p.answer(nil)
	}
	ctx, cancel := s.cfg.bounded(ctx)
	defer cancel()
	got, err := s.b.Run(ctx, &p.call)
	if err != nil {
		return nil, nil, s.locate(err)
	}
	return p.answer(got)
}

// open reports as an error that the session has been closed, or that there is none:
// a program that went on after New had failed.
func (s *Session) open() error {
	if s == nil {
		return tf.Errorf(tf.FailedPrecondition, "there is no session: see the error that session.New returned")
	}
	if s.closed.Load() {
		return tf.Errorf(tf.FailedPrecondition, "Attempted to use a closed Session.")
	}
	return nil
}

// ready reports as an error that no step can run: for want of a session that is
// open, or of a context.
func (s *Session) ready(ctx context.Context) error {
	if err := s.open(); err != nil || ctx != nil {
		return err
	}
	return core.NeedContext(ctx, "a step")
}

// bounded applies the time limit of a step.
func (c *Config) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// Fetch runs a step and returns the elements of y, a slice of the program's own;
// what else is asked for is only run.
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

// FetchInto is Fetch into memory of the caller's: it writes the elements of y to
// dst, which must have as many, and allocates nothing for them.
func FetchInto[T tf.Elem](ctx context.Context, s *Session, dst []T, feeds Feeds, y tf.Output, also ...tf.Fetchable) error {
	if err := y.Err(); err != nil {
		return err
	}
	t, err := core.FromSlice(dst)
	if err != nil {
		return err
	}
	_, _, err = s.runPlanned(ctx, nil, feeds, append([]tf.Fetchable{y}, also...), t)
	return err
}

// locate adds the program's line to an error that only names a node, as those do
// that come from a cluster or from the body of a function.
func (s *Session) locate(err error) error {
	e := tf.AsError(err)
	located := *e
	if e.Node != "" && e.Pos == "" {
		if op := s.operation(e); op != nil {
			located.Pos, located.Op = op.Pos(), op.OpName()
			if e.Op == "" { // the name is all that crossed, perhaps that of a node behind op
				located.Node = op.Name
			}
		}
	}
	if what, ok := uninitialized(&located); ok {
		located.Plain = what + ": variables must be initialized or restored before they are read: run tf.InitializeAll(g), made after the optimizer"
	} else if located.Pos == e.Pos {
		return err
	}
	return &located
}

// neverAssigned is what TensorFlow's kernels that add to a variable say of one that
// has no value: they look the resource up by its C++ type.
var neverAssigned = regexp.MustCompile(`^(?:Container \S+ does not exist\. \(Could not find resource: [^/]+/(.+)\)|Resource [^/]+/(.+)/N10tensorflow3VarE does not exist\.)$`)

// uninitialized returns, if e says that a variable has no value, the part of its
// text that says so; the rest speaks of TensorFlow's own clients.
func uninitialized(e *tf.Error) (what string, ok bool) {
	msg := e.Message()
	if from, rest, ok := strings.Cut(msg, ":\n"); ok && strings.HasPrefix(from, "From /job:") { // a task of a cluster
		msg = rest
	}
	msg, _, _ = strings.Cut(msg, "\n\t [[{{")
	switch {
	case e.Code == tf.FailedPrecondition && (strings.HasPrefix(msg, "Could not find variable") || strings.HasPrefix(msg, "Attempting to use uninitialized value")):
		what, _, _ = strings.Cut(msg, ". This could mean")
		return what, true
	case e.Code == tf.NotFound && (e.Op == "AssignAddVariableOp" || e.Op == "AssignSubVariableOp"):
		if m := neverAssigned.FindStringSubmatch(msg); m != nil {
			return "Could not find variable " + m[1] + m[2], true
		}
	}
	return "", false
}

// crossing is what masters (S) and workers (G), ours and TensorFlow's, add to the name of a
// node whose output crosses, for the nodes that send and receive it.
var crossing = regexp.MustCompile(`_[SG][0-9]+$`)

// operation finds the program's operation behind the node of an error: masters
// and workers add nodes of their own behind its name, as in "w/read/_26" and "w/read_S26".
func (s *Session) operation(e *tf.Error) *tf.Operation {
	for node := cmp.Or(e.Origin, core.Origin{Node: e.Node}); ; {
		if node.Function == "" {
			if op := s.g.Operation(node.Node); op != nil {
				return op
			}
		}
		if op := author.InFunctions(s.g, node); op != nil {
			return op
		}
		if at := crossing.FindStringIndex(node.Node); at != nil {
			node.Node = node.Node[:at[0]]
			continue
		}
		i := strings.LastIndex(node.Node, "/")
		if i < 0 || !strings.HasPrefix(node.Node[i+1:], "_") {
			return nil
		}
		node.Node = node.Node[:i]
	}
}
