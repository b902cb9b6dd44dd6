package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Peer is the worker of another task as functions are run on it: what a
// master asks of it for a step.
type Peer interface {
	RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error)
	RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error)
	CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error)
}

// Cluster is how a task reaches the others.
type Cluster struct {
	Transport rendezvous.Transport
	Peer      func(task string) (Peer, error)
	Member    func(task string) (collective.Peer, error) // as groups of devices see it; nil: they do not
	Leave     func()                                     // ends it
}

// remoteCalls runs functions of one session's graphs on other tasks. Each is
// registered there, as a graph of one call, when it is first called.
type remoteCalls struct {
	s    *session
	peer func(task string) (Peer, error)
	made step.Plans[*remoteFunction] // by the cluster's generation, device and function
}

// remoteFunction is a function on another task.
type remoteFunction struct {
	task        string
	peer        Peer
	handle      string
	feeds, rets []string // keys
}

// CallRemote runs f on a device of another task. The step that it is there is
// one of its own, which ends with ctx.
func (c *remoteCalls) CallRemote(ctx context.Context, device string, library *core.Library, f core.Func, in []*core.Tensor) ([]*core.Tensor, error) {
	r, err := c.get(ctx, device, library, f)
	if err != nil {
		return nil, err
	}
	req, err := r.request(in)
	if err != nil {
		return nil, err
	}
	req.SessionHandle, req.CreateWorkerSessionCalled = c.s.handle, c.s.handle != ""
	resp, err := r.peer.RunGraph(ctx, req)
	c.cleanUp(r, req.GetStepId())
	if err != nil {
		e := core.AsError(err)
		return nil, &core.Error{Code: e.Code, Msg: "From " + r.task + ":\n" + e.WireMessage(), Derived: e.Derived}
	}
	return r.results(resp)
}

// get returns f as it is registered for a device. A call waits for that no longer than
// its own step lasts. The caller is counted by the session's steps.
func (c *remoteCalls) get(ctx context.Context, device string, library *core.Library, f core.Func) (*remoteFunction, error) {
	key := fmt.Appendf(nil, "%d %s\x00%s", c.s.generation(), device, f.Key())
	return c.made.Get(ctx, key, step.Maker[*remoteFunction]{Within: c.s.ctx, Working: &c.s.steps, Make: func(ctx context.Context) (*remoteFunction, error) {
		return c.register(ctx, device, library, f)
	}})
}

func (c *remoteCalls) register(ctx context.Context, device string, library *core.Library, f core.Func) (*remoteFunction, error) {
	d, err := core.ParseDevice(device)
	if err != nil {
		return nil, err
	}
	r := &remoteFunction{task: d.TaskName()}
	if r.peer, err = c.peer(r.task); err != nil {
		return nil, err
	}
	g, err := callGraph(device, library, f)
	if err != nil {
		return nil, err
	}
	r.feeds, r.rets = terminals(g)
	def, err := g.Proto()
	if err != nil {
		return nil, err
	}
	resp, err := r.peer.RegisterGraph(ctx, &pb.RegisterGraphRequest{SessionHandle: c.s.handle, CreateWorkerSessionCalled: c.s.handle != "", GraphDef: def})
	r.handle = resp.GetGraphHandle()
	return r, err
}

// callGraph is a graph that receives arguments, calls f and sends the results,
// all on one device.
func callGraph(device string, library *core.Library, f core.Func) (*graph.Graph, error) {
	body, err := library.Body(f)
	if err != nil {
		return nil, err
	}
	g := graph.New()
	g.Library = library
	call, err := g.AddNew("call", "StatefulPartitionedCall", core.Attrs{"Tin": body.ArgTypes, "Tout": body.RetTypes, "f": f}, device)
	if err != nil {
		return nil, err
	}
	s := pass.Signature{Targets: []string{"call"}}
	for i, t := range body.ArgTypes {
		arg, err := g.AddNew(fmt.Sprintf("arg_%d", i), "Placeholder", core.Attrs{"dtype": t}, device)
		if err != nil {
			return nil, err
		}
		call.In = append(call.In, graph.Edge{Node: arg})
		s.Feeds = append(s.Feeds, arg.Name+":0")
	}
	for i := range body.RetTypes {
		s.Fetches = append(s.Fetches, fmt.Sprintf("call:%d", i))
	}
	return pass.ClientGraph(g, s, pass.Terminals{ClientDevice: device, Incarnation: 1})
}

// terminals returns the keys by which arguments and results are sent, in order.
func terminals(g *graph.Graph) (feeds, rets []string) {
	for _, n := range g.Nodes {
		k := rendezvous.KeyOf(&n.Node)
		switch n.Role() {
		case core.Receives:
			feeds = append(feeds, k.String())
		case core.Sends:
			rets = append(rets, k.String())
		}
	}
	return feeds, rets
}

func (r *remoteFunction) request(in []*core.Tensor) (*pb.RunGraphRequest, error) {
	if len(in) != len(r.feeds) {
		return nil, core.Errorf(core.InvalidArgument, "Expects %d arguments, but %d is provided", len(r.feeds), len(in))
	}
	req := &pb.RunGraphRequest{GraphHandle: r.handle, StepId: requestid.New() &^ (-1 << 63), RequestId: requestid.New(), RecvKey: r.rets, ExecOpts: &pb.ExecutorOpts{}}
	for i, t := range in {
		p, err := core.EncodeTensor(t)
		if err != nil {
			return nil, err
		}
		req.Send = append(req.Send, &pb.NamedTensorProto{Name: r.feeds[i], Tensor: p})
	}
	return req, nil
}

// results takes the tensors out of an answer.
func (r *remoteFunction) results(resp *pb.RunGraphResponse) ([]*core.Tensor, error) {
	got := make(map[string]*pb.TensorProto, len(r.rets))
	for _, t := range resp.GetRecv() {
		got[t.GetName()] = t.GetTensor()
	}
	out := make([]*core.Tensor, len(r.rets))
	for i, key := range r.rets {
		var err error
		if out[i], err = core.TensorFromProto(got[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cleanupTimeout is how long another task has to answer that a call is over.
const cleanupTimeout = 10 * time.Second

// cleanUp drops what is left of a call there. The caller does not wait for it: a task
// that is silent must not hold up a step that has ended. The end of the session drops
// the step as well.
func (c *remoteCalls) cleanUp(r *remoteFunction, id int64) {
	if c.s.begin() != nil {
		return
	}
	go func() {
		defer c.s.steps.Done()
		ctx, cancel := context.WithTimeout(c.s.ctx, cleanupTimeout)
		defer cancel()
		_, _ = r.peer.CleanupGraph(ctx, &pb.CleanupGraphRequest{StepId: id}) // without it the step stays until the session ends
	}()
}
