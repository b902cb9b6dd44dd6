// Package remote is what sessions on a cluster are made of: the client of a master,
// without anything of a server. Importing it makes session targets of the forms
// grpc://host:port and grpc+verbs://host:port work.
package remote

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/connectivity"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// The schemes of targets, which are the protocols by which tasks exchange tensors. With
// the second one, calls still go by gRPC, but tensors are written to the receiver's
// memory. A session calls either master by gRPC.
const (
	SchemeGRPC  = "grpc"
	SchemeVerbs = "grpc+verbs"
)

func init() {
	session.RegisterFactory(SchemeGRPC, open)
	session.RegisterFactory(SchemeVerbs, open)
}

// remote is the backend of sessions on a cluster: TensorFlow's GrpcSession. The
// master hears of it at the first step, with the graph as it is then; what is
// added later is sent before the step that follows.
type remote struct {
	g      *tf.Graph
	cfg    session.Config
	conn   *rpc.Channel // nil if the master is in this process
	master Master
	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc

	turn    chan struct{} // held while the master's graph is brought up to date
	handle  string
	version int64
	sent    int // operations that the master has
	asked   int // that an extension was to bring it to, whose answer was lost; not above sent: none was

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

func open(g *tf.Graph, cfg session.Config) (session.Backend, error) {
	_, addr, _ := strings.Cut(cfg.Target, "://")
	if err := checkConfig(&cfg, addr); err != nil {
		return nil, err
	}
	guard, err := security(&cfg)
	if err != nil {
		return nil, err
	}
	seen, err := observer(&cfg)
	if err != nil {
		return nil, err
	}
	r := &remote{g: g, cfg: cfg, master: localMaster(cfg.Target), turn: make(chan struct{}, 1)}
	if r.master == nil {
		dial := DialConfig(cfg.TLS, guard)
		dial.Observer = seen
		dial.Keepalive = rpc.Keepalive{Time: cfg.KeepAlive, Timeout: cfg.KeepAliveTimeout}
		conn, err := rpc.Dial(addr, dial)
		if err != nil {
			return nil, err
		}
		r.conn, r.master = conn, rpc.NewMasterClient(conn)
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	return r, nil
}

// checkConfig refuses what no cluster is asked for: it would have no effect, or fail late.
func checkConfig(cfg *session.Config, addr string) error {
	if err := CheckAddress(addr); err != nil {
		return tf.Errorf(tf.InvalidArgument, "target %q: %s", cfg.Target, tf.AsError(err).Message())
	}
	if err := pass.CheckPassNames(cfg.DisabledPasses); err != nil {
		return err
	}
	if cfg.Cluster != nil {
		return CheckSpec(cfg.Cluster)
	}
	return nil
}

var errClosed = tf.Errorf(tf.FailedPrecondition, "Session has been closed.")

// begin counts a call, which ends with r.calls.Done.
func (r *remote) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.calls.Add(1)
	return nil
}

// Run runs a step on the cluster.
func (r *remote) Run(ctx context.Context, c *session.Call) ([]*core.Tensor, error) {
	return during(ctx, r, func(ctx context.Context, handle string) ([]*core.Tensor, error) {
		return r.runStep(ctx, handle, "", c)
	})
}

// during makes a call that needs the master's session, with the graph as it is
// now. The session's end ends it.
func during[T any](ctx context.Context, r *remote, f func(ctx context.Context, handle string) (T, error)) (out T, err error) {
	if err := r.begin(); err != nil {
		return out, err
	}
	defer r.calls.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() { err = ofCaller(ctx, err) }()
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()
	handle, err := r.update(ctx)
	if err != nil {
		return out, err
	}
	return f(ctx, handle)
}

// options are a step's, with the session's time limit if it has none.
func (r *remote) options(o *pb.RunOptions) *pb.RunOptions {
	if o == nil {
		return &pb.RunOptions{TimeoutInMs: r.cfg.Timeout.Milliseconds()}
	}
	if o.GetTimeoutInMs() == 0 && r.cfg.Timeout > 0 {
		o = proto.CloneOf(o)
		o.TimeoutInMs = r.cfg.Timeout.Milliseconds()
	}
	return o
}

// limited applies a step's time limit to the call that runs it: TensorFlow's
// masters leave that to clients.
func limited(ctx context.Context, o *pb.RunOptions) (context.Context, context.CancelFunc) {
	if o.GetTimeoutInMs() <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(o.GetTimeoutInMs())*time.Millisecond)
}

// runStep runs a step, or a piece of a partial one.
func (r *remote) runStep(ctx context.Context, handle, partial string, c *session.Call) ([]*core.Tensor, error) {
	req := &pb.RunStepRequest{
		SessionHandle: handle, Fetch: c.Fetches, Target: c.Targets, RequestId: requestid.New(), StoreErrorsInResponseBody: true,
		Options: r.options(c.Options), PartialRunHandle: partial,
	}
	for i, name := range c.FeedNames {
		p, err := core.EncodeTensor(c.Feeds[i])
		if err != nil {
			return nil, err
		}
		req.Feed = append(req.Feed, &pb.NamedTensorProto{Name: name, Tensor: p})
	}
	ctx, cancel := limited(ctx, req.GetOptions())
	defer cancel()
	resp, err := retry(ctx, req, r.tryStep)
	if err != nil {
		return nil, err
	}
	if code := tf.Code(resp.GetStatusCode()); code != tf.OK {
		return nil, located(&tf.Error{Code: code, Msg: resp.GetStatusErrorMessage()})
	}
	if c.Options != nil {
		c.Metadata = cmp.Or(resp.GetMetadata(), &pb.RunMetadata{})
	}
	return fetched(c.Fetches, resp)
}

// tryStep is RunStep, with ABORTED as an error of the call also where the answer has it: it
// may be about the call, not the step.
func (r *remote) tryStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	resp, err := r.master.RunStep(ctx, req)
	if err == nil && tf.Code(resp.GetStatusCode()) == tf.Aborted {
		return nil, located(&tf.Error{Code: tf.Aborted, Msg: resp.GetStatusErrorMessage()})
	}
	return resp, err
}

// fetched puts a master's answer into the order of the fetches.
func fetched(names []string, resp *pb.RunStepResponse) ([]*core.Tensor, error) {
	got := make(map[string]*pb.TensorProto, len(resp.GetTensor()))
	for _, t := range resp.GetTensor() {
		got[t.GetName()] = t.GetTensor()
	}
	out := make([]*core.Tensor, len(names))
	for i, name := range names {
		p := got[name]
		if p == nil {
			return nil, tf.Errorf(tf.Internal, "the master must return what was fetched, it did not return %s", name)
		}
		t, err := core.TensorFromProto(p)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// nodeIn finds the node that an error from a cluster names, and the function that
// the node is from if its body has taken the place of a call.
var nodeIn = regexp.MustCompile(`\[\[(?:\{\{function_node ([^}]+)\}\})?\{\{node ([^}]+)\}\}`)

// refusedNode finds the node that a master cannot place. TensorFlow names it within the
// text, not behind it.
var refusedNode = regexp.MustCompile(`Cannot assign a device for operation [^ ]+: (?:\{\{function_node ([^}]+)\}\} ?)?\{\{node ([^}]+)\}\}`)

// functionsIn finds the functions that were called when a node failed. TensorFlow
// puts them in front of the message, the innermost last.
var functionsIn = regexp.MustCompile(`\{\{function_node ([^}]+)\}\} `)

// located returns e with the node that its text is about, so that the session
// can say where the program added it.
func located(e *tf.Error) *tf.Error {
	m := nodeIn.FindStringSubmatchIndex(e.Msg)
	if m == nil {
		m = refusedNode.FindStringSubmatchIndex(e.Msg)
	}
	if m == nil || e.Node != "" {
		return e
	}
	e.Node = e.Msg[m[4]:m[5]]
	if m[2] >= 0 {
		e.Origin = core.Origin{Function: e.Msg[m[2]:m[3]], Node: e.Node}
	} else if calls := functionsIn.FindAllStringSubmatch(e.Msg[:m[0]], -1); calls != nil {
		e.Origin = core.Origin{Function: calls[len(calls)-1][1], Node: e.Node}
	}
	return e
}

const (
	// maxRetries is how often TensorFlow's clients repeat a call whose
	// server could not be reached.
	maxRetries   = 10
	firstBackoff = 50 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

// retry makes a call, again while its server is unavailable, unless that has been
// waited for long enough. The request keeps its number, so that a server that did
// get it runs it once.
func retry[Req, Resp any](ctx context.Context, req *Req, call func(context.Context, *Req) (*Resp, error)) (*Resp, error) {
	var lost error // of the attempt before
	for n := 0; ; n++ {
		resp, err := call(ctx, req)
		if err == nil {
			return resp, nil
		}
		if lost != nil && strings.Contains(err.Error(), "request was received twice") {
			err = unanswered(lost, err)
		}
		lost = err
		if tf.CodeOf(err) != tf.Unavailable || errors.Is(err, rpc.ErrSilent) || n == maxRetries || !pause(ctx, n) {
			return nil, ended(ctx, err)
		}
	}
}

// unanswered says what a server's refusal to run a request twice means: the request
// arrived, and its answer was lost together with the connection.
func unanswered(lost, refused error) error {
	return tf.Errorf(tf.Aborted, "the server had the request when the connection was lost, and runs none twice: %s: %s",
		tf.AsError(lost).Message(), tf.AsError(refused).Message())
}

// ended prefers the reason for which this side gave up to the call's error.
func ended(ctx context.Context, err error) error {
	return ofCaller(ctx, located(tf.AsError(err)))
}

// slack is how much earlier than the caller's the deadline may be over at a server, which
// has it from the call.
const slack = 100 * time.Millisecond

// ofCaller returns err so that errors.Is tells, as in a session in this process, that the end
// of the caller's own context is what has ended a step. What a server says of a deadline, such
// as which nodes were waiting, stays.
func ofCaller(ctx context.Context, err error) error {
	code := tf.CodeOf(err)
	if end, ok := ctx.Deadline(); ok && code == tf.DeadlineExceeded && ctx.Err() == nil && time.Until(end) < slack {
		<-ctx.Done()
	}
	why := context.Cause(ctx)
	switch {
	case err == nil || why == nil || errors.Is(err, why):
		return err
	case code == tf.DeadlineExceeded && errors.Is(why, context.DeadlineExceeded):
		e := *tf.AsError(err)
		e.Msg, e.Err = e.Message(), why
		return &e
	case ctx.Err() == context.Canceled:
		return step.Explained(ctx, ctx.Err())
	}
	return err
}

// pause waits before attempt n+1, longer each time; it reports whether ctx is
// still there.
func pause(ctx context.Context, n int) bool {
	d := min(firstBackoff<<n, maxBackoff)
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Close waits so long for an answer of the master: for the session's own limit, but at
// most closeTimeout and at least lostCloseTimeout, in which the call reaches a master that
// is there; for lostCloseTimeout when the connection is lost. A master that has the call
// closes the session though the wait is over.
const (
	closeTimeout     = 2 * time.Second
	lostCloseTimeout = 300 * time.Millisecond
)

// Close ends the session. Steps under way end with an error.
func (r *remote) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	if !first {
		return nil
	}
	r.cancel(tf.Errorf(tf.Canceled, "Session has been closed."))
	r.calls.Wait()
	err := r.closeAtMaster()
	if r.conn != nil {
		err = errors.Join(err, r.conn.Close())
	}
	return err
}

func (r *remote) closeLimit() time.Duration {
	switch {
	case r.conn != nil && r.conn.GetState() != connectivity.Ready:
		return lostCloseTimeout
	case r.cfg.Timeout > 0:
		return max(lostCloseTimeout, min(r.cfg.Timeout, closeTimeout))
	}
	return closeTimeout
}

func (r *remote) closeAtMaster() error {
	if r.handle == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.closeLimit())
	defer cancel()
	_, err := r.master.CloseSession(ctx, &pb.CloseSessionRequest{SessionHandle: r.handle})
	switch tf.CodeOf(err) {
	case tf.Aborted, tf.Unavailable, tf.DeadlineExceeded:
		return nil // the master has restarted, or is gone: so is the session
	}
	return err
}
