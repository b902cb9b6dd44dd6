package interop

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A sequence is what a client, or a master, calls of a server, one call after the
// other. Both kinds of servers must answer alike: with the same codes, texts and
// values.
type sequence struct {
	name string
	run  func(c *caller)
}

// A difference says why Gorge answers a sequence differently on purpose, and what.
type difference struct {
	why   string
	alone bool // TensorFlow is not asked: it would end, or wait for ever
	gorge []string
}

var sequences = slices.Concat(sessionCalls, graphCalls, stepCalls, callableCalls, partialCalls, workerCalls)

// TestCalls makes the same raw calls of servers of both kinds.
func TestCalls(t *testing.T) {
	needTensorFlow(t)
	targets := map[string][]string{}
	both(func() { targets[ofGorge] = twoTasks(t, ofGorge) }, func() { targets[ofTensorFlow] = twoTasks(t, ofTensorFlow) })
	var here, there [][]string
	both(func() { here = askAll(t, ofGorge, targets[ofGorge]) }, func() { there = askAll(t, ofTensorFlow, targets[ofTensorFlow]) })
	for i, q := range sequences {
		t.Run(q.name, func(t *testing.T) { q.compare(t, there[i], here[i]) })
	}
}

func (q *sequence) compare(t *testing.T, theirs, ours []string) {
	d, differs := differences[q.name]
	switch {
	case differs && !agree(d.gorge, ours):
		t.Errorf("what Gorge answers (-want +got):\n%s", cmp.Diff(d.gorge, ours))
	case differs && !d.alone && agree(theirs, ours):
		t.Errorf("TensorFlow answers the same: there is no difference to explain (%s)", d.why)
	case !differs && !agree(theirs, ours):
		t.Errorf("answers (-TensorFlow +Gorge):\n%s", cmp.Diff(theirs, ours))
	}
}

// agree reports whether answers are the same. Errors may say more than those of
// TensorFlow.
func agree(theirs, ours []string) bool {
	return slices.EqualFunc(theirs, ours, func(their, our string) bool {
		return their == our || strings.HasPrefix(our, their) && !strings.Contains(their, ": OK")
	})
}

// twoTasks starts a cluster of two tasks and returns their addresses.
func twoTasks(t *testing.T, kind string) []string {
	addr := ports(t, 2)
	spec := "worker|" + addr[0] + ";" + addr[1]
	both(func() { serve(t, kind, spec, "worker", 0) }, func() { serve(t, kind, spec, "worker", 1) })
	return addr
}

func askAll(t *testing.T, kind string, addr []string) (out [][]string) {
	for i := range sequences {
		q := &sequences[i]
		if differences[q.name].alone && kind == ofTensorFlow {
			out = append(out, nil)
			continue
		}
		out = append(out, ask(t, addr, q))
	}
	return out
}

// ask makes the calls of one sequence, on connections of its own.
func ask(t *testing.T, addr []string, q *sequence) []string {
	c := &caller{addr: addr, handles: map[string]string{}}
	for _, a := range addr {
		ch, err := rpc.Dial(a, rpc.DialConfig{NoLinks: true})
		if err != nil {
			t.Fatal(err)
		}
		defer ch.Close()
		c.workers = append(c.workers, rpc.NewWorkerClient(ch))
		if c.master == nil {
			c.master = rpc.NewMasterClient(ch)
		}
	}
	q.run(c)
	for _, h := range c.opened {
		c.master.CloseSession(within(c), &pb.CloseSessionRequest{SessionHandle: h})
	}
	return c.lines
}

// A caller makes the calls of a sequence and notes how each of them ends.
type caller struct {
	addr    []string
	master  *rpc.MasterClient
	workers []*rpc.WorkerClient
	lines   []string

	session string // of the last CreateSession
	version int64
	opened  []string
	handles map[string]string
}

// patience is how long a call may take that both servers are to answer.
const patience = time.Minute

func within(c *caller) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	time.AfterFunc(2*patience, cancel) // not at the deadline, where it would be first at times, and end the call as cancelled
	return ctx
}

// What differs from run to run is not compared.
var varies = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\n(Additional GRPC error information|Recent warning and error logs)(?s:.*)`), ""}, // of TensorFlow's own library
	{regexp.MustCompile(`(was received twice\.)(?s:.*)`), "$1"},                                            // what the request was
	{regexp.MustCompile(`From /job:worker/replica:0/task:\d:\n`), ""},                                      // who answers first
	{regexp.MustCompile(`(\w+): \n=+\n\w+: ([^\n]*(?:\n\t[^\n]*)*)(?s:.*)`), "$1: $2"},                     // TensorFlow lists the errors of all tasks
	{regexp.MustCompile(`\{\{node ([^}]*)\}\}`), "$1"},                                                     // TensorFlow writes some names of nodes so, some plainly
	{regexp.MustCompile(`(Op type not registered '[^']*' in binary running on).*`), "$1"},                  // machines
	{regexp.MustCompile(`^(DEADLINE_EXCEEDED):(?s:.*)`), "$1"},                                             // of client or server, whose clock is first
	{regexp.MustCompile(`cluster_def\. (?s:.*)`), "cluster_def."},                                          // as text
	{regexp.MustCompile(`ClusterDef: (?s:.*)`), "ClusterDef: "},
	{regexp.MustCompile(`\b[0-9a-f]{14,16}\b`), "NUMBER"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`-?\b\d{8,}\b`), "NUMBER"},
}

func (c *caller) note(method, what string) {
	for _, v := range varies {
		what = v.what.ReplaceAllString(what, v.by)
	}
	c.lines = append(c.lines, method+": "+strings.TrimSpace(what))
}

// ended notes how a call ended and reports whether it succeeded.
func (c *caller) ended(method string, err error, got ...string) bool {
	if err == nil {
		c.note(method, strings.Join(append([]string{"OK"}, got...), " "))
		return true
	}
	e := tf.AsError(err)
	c.note(method, fmt.Sprintf("%v: %s", e.Code, e.Message()))
	return false
}

// create opens a session with a graph.
func (c *caller) create(nodes ...*pb.NodeDef) bool { return c.createWith(nil, graphOf(nodes...)) }

func (c *caller) createWith(cfg *pb.ConfigProto, g *pb.GraphDef) bool {
	return c.open(&pb.CreateSessionRequest{GraphDef: g, Config: cfg, Target: "grpc://" + c.addr[0]})
}

func (c *caller) open(req *pb.CreateSessionRequest) bool {
	resp, err := c.master.CreateSession(within(c), req)
	if err == nil {
		c.session, c.version = resp.GetSessionHandle(), resp.GetGraphVersion()
		c.opened = append(c.opened, c.session)
	}
	return c.ended("CreateSession", err, fmt.Sprint("version ", resp.GetGraphVersion()))
}

// extend adds nodes to the session's graph.
func (c *caller) extend(nodes ...*pb.NodeDef) bool { return c.extendBy(graphOf(nodes...)) }

func (c *caller) extendBy(g *pb.GraphDef) bool {
	resp, err := c.master.ExtendSession(within(c), &pb.ExtendSessionRequest{SessionHandle: c.session, GraphDef: g, CurrentGraphVersion: c.version})
	if err == nil {
		c.version = resp.GetNewGraphVersion()
	}
	return c.ended("ExtendSession", err, fmt.Sprint("version ", resp.GetNewGraphVersion()))
}

func (c *caller) close() {
	_, err := c.master.CloseSession(within(c), &pb.CloseSessionRequest{SessionHandle: c.session})
	c.ended("CloseSession", err)
}

// feeds are given as name, value, name, value.
func feedsOf(list []any) (out []*pb.NamedTensorProto) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, &pb.NamedTensorProto{Name: list[i].(string), Tensor: tensorOf(list[i+1])})
	}
	return out
}

// step runs a step: feeds, then what it fetches.
func (c *caller) step(feeds []any, fetches ...string) {
	c.runStep(&pb.RunStepRequest{Feed: feedsOf(feeds), Fetch: fetches})
}

func (c *caller) runStep(req *pb.RunStepRequest) {
	if req.SessionHandle == "" {
		req.SessionHandle = c.session
	}
	resp, err := c.master.RunStep(within(c), req)
	c.ended("RunStep", err, describeStep(resp)...)
}

func describeStep(resp *pb.RunStepResponse) (out []string) {
	if resp.GetStatusCode() != 0 {
		out = append(out, fmt.Sprintf("with status %v: %s", tf.Code(resp.GetStatusCode()), resp.GetStatusErrorMessage()))
	}
	for _, t := range resp.GetTensor() {
		out = append(out, t.GetName()+"="+valueOf(t.GetTensor()))
	}
	slices.Sort(out)
	return append(out, describeMetadata(resp.GetMetadata())...)
}

func describeMetadata(m *pb.RunMetadata) (out []string) {
	if m.GetStepStats() != nil {
		out = append(out, "stats")
	}
	if m.GetCostGraph() != nil {
		out = append(out, "costs")
	}
	if len(m.GetPartitionGraphs()) > 0 {
		out = append(out, fmt.Sprint(len(m.GetPartitionGraphs()), " partitions"))
	}
	return out
}

// valueOf shows a tensor in few letters.
func valueOf(p *pb.TensorProto) string {
	if p == nil {
		return "nil"
	}
	t, err := core.TensorFromProto(p)
	if err != nil {
		return err.Error()
	}
	if t.DType() == tf.Resource || t.DType() == tf.Variant {
		return t.DType().String()
	}
	s := t.String()
	if len(s) > 60 {
		s = s[:60]
	}
	return s
}

func (c *caller) makeCallable(o *pb.CallableOptions) int64 {
	resp, err := c.master.MakeCallable(within(c), &pb.MakeCallableRequest{SessionHandle: c.session, Options: o})
	c.ended("MakeCallable", err, fmt.Sprint("handle ", resp.GetHandle()))
	return resp.GetHandle()
}

func (c *caller) runCallable(handle int64, feeds ...any) {
	req := &pb.RunCallableRequest{SessionHandle: c.session, Handle: handle}
	for _, f := range feeds {
		req.Feed = append(req.Feed, tensorOf(f))
	}
	resp, err := c.master.RunCallable(within(c), req)
	var got []string
	for _, t := range resp.GetFetch() {
		got = append(got, valueOf(t))
	}
	c.ended("RunCallable", err, append(got, describeMetadata(resp.GetMetadata())...)...)
}

func (c *caller) release(handle int64) {
	_, err := c.master.ReleaseCallable(within(c), &pb.ReleaseCallableRequest{SessionHandle: c.session, Handle: handle})
	c.ended("ReleaseCallable", err)
}

func (c *caller) setUp(feeds, fetches, targets []string) string {
	resp, err := c.master.PartialRunSetup(within(c), &pb.PartialRunSetupRequest{SessionHandle: c.session, Feed: feeds, Fetch: fetches, Target: targets})
	c.ended("PartialRunSetup", err, "handle "+resp.GetPartialRunHandle())
	return resp.GetPartialRunHandle()
}

func (c *caller) piece(handle string, feeds []any, fetches ...string) {
	c.runStep(&pb.RunStepRequest{PartialRunHandle: handle, Feed: feedsOf(feeds), Fetch: fetches})
}
