package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
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

	mu   sync.Mutex
	made map[string]*remoteFunction // by device and function
}

// remoteFunction is a function on another task.
type remoteFunction struct {
	once        sync.Once
	task        string
	peer        Peer
	handle      string
	feeds, rets []string // keys
	err         error
}

// CallRemote runs f on a device of another task. The step that it is there is
// one of its own, which ends with ctx.
func (c *remoteCalls) CallRemote(ctx context.Context, device string, library *core.Library, f core.Func, in []*core.Tensor) ([]*core.Tensor, error) {
	r := c.get(device, library, f)
	if r.err != nil {
		return nil, r.err
	}
	req, err := r.request(in)
	if err != nil {
		return nil, err
	}
	req.SessionHandle, req.CreateWorkerSessionCalled = c.s.handle, c.s.handle != ""
	resp, err := r.peer.RunGraph(ctx, req)
	r.cleanUp(ctx, req.GetStepId())
	if err != nil {
		e := core.AsError(err)
		return nil, &core.Error{Code: e.Code, Msg: "From " + r.task + ":\n" + e.WireMessage(), Derived: e.Derived}
	}
	return r.results(resp)
}

// get returns f as it is registered for a device.
func (c *remoteCalls) get(device string, library *core.Library, f core.Func) *remoteFunction {
	key := device + "\x00" + f.Key()
	c.mu.Lock()
	r := c.made[key]
	if r == nil {
		r = &remoteFunction{}
		c.made[key] = r
	}
	c.mu.Unlock()
	r.once.Do(func() { r.err = c.register(r, device, library, f) })
	if r.err != nil {
		c.mu.Lock()
		delete(c.made, key) // the task may be back by the next call
		c.mu.Unlock()
	}
	return r
}

func (c *remoteCalls) register(r *remoteFunction, device string, library *core.Library, f core.Func) error {
	d, err := core.ParseDevice(device)
	if err != nil {
		return err
	}
	r.task = d.TaskName()
	if r.peer, err = c.peer(r.task); err != nil {
		return err
	}
	g, err := callGraph(device, library, f)
	if err != nil {
		return err
	}
	r.feeds, r.rets = terminals(g)
	def, err := g.Proto()
	if err != nil {
		return err
	}
	resp, err := r.peer.RegisterGraph(c.s.ctx, &pb.RegisterGraphRequest{SessionHandle: c.s.handle, CreateWorkerSessionCalled: c.s.handle != "", GraphDef: def})
	r.handle = resp.GetGraphHandle()
	return err
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

// cleanUp drops what is left of a step there, even if ctx has ended. If the
// task cannot be reached any more, nothing is left.
func (r *remoteFunction) cleanUp(ctx context.Context, id int64) {
	_, _ = r.peer.CleanupGraph(context.WithoutCancel(ctx), &pb.CleanupGraphRequest{StepId: id})
}
