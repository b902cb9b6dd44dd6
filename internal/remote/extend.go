package remote

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// update makes the master's graph what the session's graph is now, and returns
// the session's handle. Steps that add nothing do not wait for those that do.
func (r *remote) update(ctx context.Context) (handle string, err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	ops := r.g.SessionOperations()
	if r.asked > r.sent { // first what the master may have: it takes it whole or not at all
		if err := r.send(ctx, ops[:r.asked]); err != nil {
			return "", err
		}
	}
	if r.handle == "" || len(ops) > r.sent {
		if err := r.send(ctx, ops); err != nil {
			return "", err
		}
	}
	return r.handle, nil
}

// send makes the master's graph one of ops, which begin with what the master has.
func (r *remote) send(ctx context.Context, ops []*tf.Operation) error {
	def, err := r.definition(ops[r.sent:])
	if err != nil {
		return err
	}
	if r.handle == "" {
		err = r.create(ctx, def)
	} else {
		err = r.extend(ctx, def, len(ops))
	}
	if err == nil {
		r.sent = len(ops)
	}
	return err
}

// definition returns operations as a GraphDef. What went wrong while the graph
// was built does not matter here: it is not among them.
func (r *remote) definition(ops []*tf.Operation) (*pb.GraphDef, error) {
	library, producer := r.g.Library()
	def := &pb.GraphDef{Versions: &pb.VersionDef{Producer: int32(producer)}}
	def.Library = library.Proto()
	for _, op := range ops {
		n, err := op.NodeProto()
		if err != nil {
			return nil, core.AtNode(err, &op.Node, nil)
		}
		def.Node = append(def.Node, n)
	}
	return def, nil
}

func (r *remote) create(ctx context.Context, def *pb.GraphDef) error {
	req := &pb.CreateSessionRequest{GraphDef: def, Config: configProto(&r.cfg), Target: r.cfg.Target}
	stop := r.tellWaiting()
	ctx, cancel := r.cfg.Start(ctx)
	defer cancel()
	resp, err := retry(ctx, req, r.master.CreateSession)
	stop()
	if tf.CodeOf(err) == tf.DeadlineExceeded {
		return &tf.Error{Code: tf.DeadlineExceeded, Msg: r.cfg.Target + " has not answered in time: " + tf.AsError(err).Message(), Err: err}
	}
	if err != nil {
		return err
	}
	if resp.GetSessionHandle() == "" {
		return tf.Errorf(tf.Internal, "the master must answer with the handle of a session, it gave none")
	}
	r.handle, r.version = resp.GetSessionHandle(), resp.GetGraphVersion()
	return nil
}

// tellWaiting logs, until stop is called, that a cluster has not answered yet:
// a session waits for all of its tasks.
func (r *remote) tellWaiting() (stop func()) {
	const first, every = time.Second, 10 * time.Second
	log, done := r.cfg.Logger(), make(chan struct{})
	var over sync.WaitGroup
	over.Go(func() {
		t := time.NewTimer(first)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				t.Reset(every)
				log.Warn("still waiting for the cluster to answer; it does when all of its tasks are up", "target", r.cfg.Target)
			}
		}
	})
	return func() { close(done); over.Wait() }
}

// extend adds to the master's graph, which has so many operations then.
func (r *remote) extend(ctx context.Context, def *pb.GraphDef, all int) error {
	req := &pb.ExtendSessionRequest{SessionHandle: r.handle, GraphDef: def, CurrentGraphVersion: r.version}
	resp, err := retry(ctx, req, func(ctx context.Context, req *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error) {
		return r.tryExtend(ctx, req, all)
	})
	if err != nil {
		return err
	}
	r.version = resp.GetNewGraphVersion()
	return nil
}

// tryExtend is ExtendSession. The answer to an attempt may be lost, with the connection or
// because a step was given up. If the master says to the next one that its graph has
// another version, it has what was lost: nobody else extends the session.
func (r *remote) tryExtend(ctx context.Context, req *pb.ExtendSessionRequest, all int) (*pb.ExtendSessionResponse, error) {
	resp, err := r.master.ExtendSession(ctx, req)
	switch code := tf.CodeOf(err); {
	case code == tf.Aborted && r.asked > r.sent:
		return &pb.ExtendSessionResponse{NewGraphVersion: req.GetCurrentGraphVersion() + 1}, nil
	case code == tf.Unavailable, code == tf.Canceled, code == tf.DeadlineExceeded, code == core.Unknown:
		r.asked = all
	default:
		r.asked = 0
	}
	return resp, err
}

// configProto returns what of a configuration concerns a cluster.
func configProto(c *session.Config) *pb.ConfigProto {
	p := &pb.ConfigProto{
		AllowSoftPlacement: c.SoftPlacement, DeviceFilters: c.DeviceFilters, IsolateSessionState: c.Isolate,
		OperationTimeoutInMs: c.Timeout.Milliseconds(), IntraOpParallelismThreads: int32(c.Threads), InterOpParallelismThreads: int32(c.InterOp),
		LogDevicePlacement: c.LogDevicePlacement, GraphOptions: pass.OptionsWithout(c.DisabledPasses),
	}
	if p.GraphOptions == nil && (c.CostModelEvery > 0 || c.SaveMemory) {
		p.GraphOptions = &pb.GraphOptions{}
	}
	if c.SaveMemory {
		recompute.SavesMemory(c.DisabledPasses).Ask(p.GraphOptions)
	}
	if c.CostModelEvery > 0 {
		p.GraphOptions.BuildCostModel = c.CostModelEvery
	}
	for _, n := range c.InterOpPools { // masters refuse them, in TensorFlow's words
		p.SessionInterOpThreadPool = append(p.SessionInterOpThreadPool, &pb.ThreadPoolOptionProto{NumThreads: int32(n)})
	}
	if c.CollectivesInOrder {
		p.Experimental = &pb.ConfigProto_Experimental{CollectiveDeterministicSequentialExecution: true}
	}
	if c.Cluster != nil {
		p.ClusterDef = SpecProto(c.Cluster)
	}
	for typ, n := range c.Devices {
		if p.DeviceCount == nil {
			p.DeviceCount = map[string]int32{}
		}
		p.DeviceCount[typ] = int32(n)
	}
	return p
}
