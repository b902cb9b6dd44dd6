package session

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Backend does the work of a session. Sessions choose one by their target.
type Backend interface {
	// Run feeds the tensors, runs the targets and returns the fetches. What is
	// fed stays the program's, which may write to it once Run has returned; what
	// is returned is the program's alone.
	Run(ctx context.Context, c *Call) ([]*core.Tensor, error)
	// Close ends the session.
	Close() error
}

// A Call is one step as a backend sees it: names of tensors ("x:0") and nodes.
type Call struct {
	FeedNames []string
	Feeds     []*core.Tensor
	Fetches   []string
	Targets   []string
	// AnyShapes: the feeds may have other shapes than the graph says.
	AnyShapes bool
	// Into, if not nil, is memory of the program's for the first fetch, with as
	// many elements: a backend may write to it and return it instead of a copy.
	Into *core.Tensor
	// Options says more about how to run the step; nil: nothing. If it is
	// set, the backend sets Metadata.
	Options  *pb.RunOptions
	Metadata *RunMetadata
}

// A Partialer is a Backend that can run a step in pieces.
type Partialer interface {
	// PartialRun begins a step that will feed and fetch what c names, and run
	// its targets. The feeds of c have no values.
	PartialRun(ctx context.Context, c *Call) (Pieces, error)
}

// Pieces is a step of a backend that is run in pieces.
type Pieces interface {
	// Run runs a piece, which has no targets.
	Run(ctx context.Context, c *Call) ([]*core.Tensor, error)
	// Close gives up the pieces that have not been run.
	Close()
}

// Config says how a session works. Its zero value is a session in this
// process, on one CPU device, with as many threads as there are cores.
type Config struct {
	// Target is where the graph runs: "" in this process, "grpc://host:port"
	// on a cluster (which needs package cluster/client, or cluster, to be imported).
	Target string
	// Devices says how many devices of each type a session in this process
	// has; one CPU if there is nothing about CPUs.
	Devices map[string]int
	// SoftPlacement lets operations that ask for a device that is not there
	// run elsewhere.
	SoftPlacement bool
	// Threads bounds the goroutines that one operation uses (TensorFlow's intra-op
	// threads); 0, or more than GOMAXPROCS: GOMAXPROCS.
	Threads int
	// InterOp bounds the operations of a device that one step computes at once
	// (TensorFlow's inter-op threads); 0: as Threads.
	InterOp int
	// InterOpPools gives, instead of InterOp, bounds from which each step
	// chooses one by RunOptions.InterOpPool.
	InterOpPools []int
	// CostModelEvery is after how many steps that are run with options one
	// reports the costs of its nodes; 0: none does.
	CostModelEvery int64
	// LogDevicePlacement tells Log which device each node runs on.
	LogDevicePlacement bool
	// LogFusion tells Log which elementwise operations run as one, and why others do
	// not, for each graph that is prepared.
	LogFusion bool
	// DisabledPasses names the optimization passes that are switched off:
	// lower_functional_ops and function_inlining (on a cluster not alone), shape_inference,
	// constant_folding, common_subgraph_elimination, arithmetic_optimization,
	// dead_branch_removal, dependency_optimization, row_blocks (which SaveMemory asks for),
	// recomputation (of what SaveMemory and [tf.Graph.Recompute] ask for), fusion. "all" switches off all of them, so that every
	// node runs as written.
	DisabledPasses []string
	// SaveMemory prefers less memory to less time in steps that train: activations that
	// are cheap to compute are computed again for gradients instead of being kept
	// (TensorFlow's RewriterConfig.memory_optimization), gradients of 16,384 elements and more
	// are applied part by part, otherwise those of 1,048,576 and more, and what computes
	// row by row runs for some rows at a time, if that keeps 1 MiB and more from memory: a
	// perceptron, or the last layer of a language model with its loss and its gradients.
	// Values are the same bit for bit, but for those in rows: sums over rows are added up
	// in another order, and products may be. Without pass row_blocks (see DisabledPasses) all
	// are the same. Both are HEURISTICS in TensorFlow's options, and without the pass RECOMPUTATION_HEURISTICS.
	// What counts as a gradient is what is named in a scope "gradients/". What a program
	// has put into [tf.Graph.Recompute] is computed again without this option, too.
	SaveMemory bool
	// FreezeVariables lets a Callable that changes no variables have the values of those
	// that it reads as constants, so that more can be computed in advance. They share the
	// memory of the variables, m bytes; what is computed of them, in all Callables of the
	// session together, takes at most max(32 MiB - m/3, m/128) more. A run that begins after
	// a variable was written sees what was written: it reads the variables, or the
	// constants are replaced. Where that happens again and again each run reads the
	// variables.
	FreezeVariables bool
	// FoldNorms lets a Callable with such constants compute batch normalizations in
	// advance, as parts of the weights of the convolutions before them. Results differ
	// in the last digits.
	FoldNorms bool
	// CollectivesInOrder makes the CollectiveReduces of a device run one after the
	// other, in an order that all tasks agree on, where nothing else says in which
	// (TensorFlow's collective_deterministic_sequential_execution).
	CollectivesInOrder bool
	// Limits bound planning and calls of functions of sessions in this process;
	// on a cluster those of its servers count.
	Limits Limits
	// Timeout bounds each step and each call to a cluster; 0: none.
	Timeout time.Duration
	// StartTimeout bounds how long the first step waits until the tasks of a
	// cluster have answered; 0: [DefaultStartTimeout], negative: for ever.
	StartTimeout time.Duration
	// KeepAlive is how long a cluster's server may be silent, while a call waits
	// for it, before it is asked whether it is there, and KeepAliveTimeout how
	// long it then may take to answer: after that the call ends with
	// Unavailable. 0: 5 and 10 seconds; a negative KeepAlive: it is never asked.
	// TensorFlow's servers are asked half as often.
	KeepAlive, KeepAliveTimeout time.Duration
	// Cluster makes a cluster for this session of servers that were started each by
	// itself or as parts of others: the addresses ("host:port") of the tasks of each
	// job, a cluster.Spec (TensorFlow's ClusterSpec propagation). The target is one of
	// its tasks. nil: the cluster that the target is part of.
	Cluster map[string][]string
	// DeviceFilters restricts the tasks of a cluster that take part.
	DeviceFilters []string
	// Isolate gives the session variables of its own on a cluster.
	Isolate bool
	// TLS secures the connection to a cluster; nil: plain text.
	TLS *tls.Config
	// Security is TLS from files that may be replaced while the session is open,
	// with tokens if there are some, see cluster.Secured; nil: there is none. It
	// excludes TLS.
	Security Security
	// Observer is told of the calls to a cluster, see cluster.Observed; nil: none.
	Observer Observer
	// Log handles what the session logs; nil: slog's default logger does.
	Log slog.Handler
}

// Security is what cluster.OpenSecurity returns. Sessions in this process need none.
type Security interface {
	// Client returns the configuration of one connection to a host.
	Client(host string, protocols ...string) *tls.Config
}

// Observer is a cluster.Observer. Sessions in this process make no calls.
type Observer interface {
	// Outgoing returns the metadata that go with a call: a name, its value, the
	// next name and so on.
	Outgoing(ctx context.Context) []string
}

// DefaultStartTimeout is how long a session waits for its cluster unless Config
// says otherwise.
const DefaultStartTimeout = time.Minute

// Logger returns the logger that the session uses.
func (c *Config) Logger() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return slog.New(c.Log)
}

// Start returns a context that ends when the tasks of a cluster have to have
// answered.
func (c *Config) Start(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.StartTimeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, cmp.Or(c.StartTimeout, DefaultStartTimeout))
}

// A Factory makes backends for targets of one kind.
type Factory func(g *tf.Graph, cfg Config) (Backend, error)

var (
	factoryMu sync.Mutex
	factories = map[string]Factory{}
)

// RegisterFactory makes f serve targets "scheme://…". It is meant for init
// functions.
func RegisterFactory(scheme string, f Factory) {
	factoryMu.Lock()
	defer factoryMu.Unlock()
	if factories[scheme] != nil {
		panic("session: factory for " + scheme + " registered twice")
	}
	factories[scheme] = f
}

func findFactory(target string) (Factory, error) {
	if target == "" {
		return newDirect, nil
	}
	scheme, _, ok := strings.Cut(target, "://")
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "a session's target must be empty or have the form grpc://host:port, got %q", target)
	}
	factoryMu.Lock()
	defer factoryMu.Unlock()
	if f := factories[scheme]; f != nil {
		return f, nil
	}
	if scheme == "grpc" || scheme == "grpc+verbs" {
		return nil, tf.Errorf(tf.NotFound, "target %q needs a client of clusters in the program: import _ \"github.com/gorge-tf/gorge/tf/cluster/client\"", target)
	}
	return nil, tf.Errorf(tf.NotFound, "No session factory registered for the given session options: target %q", target)
}
