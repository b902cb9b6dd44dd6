package worker

import (
	"context"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// RegisterGraph makes this task's part of a graph ready to run. That ends with ctx
// and with the session.
func (w *Worker) RegisterGraph(ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	s, err := w.find(req.GetCreateWorkerSessionCalled(), req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.steps.Done()
	ctx, cancel := s.within(ctx)
	defer cancel(nil)
	g, err := s.build(graph.NewBudget(ctx, s.rt.Limits), req)
	if err != nil {
		return nil, err
	}
	return &pb.RegisterGraphResponse{GraphHandle: s.register(g)}, nil
}

// build prepares executors for a graph as a master sends it: placed, with all
// attributes. The options say which passes the client's session does without.
func (s *session) build(b *graph.Budget, req *pb.RegisterGraphRequest) (*step.Graph, error) {
	def := req.GetGraphDef()
	if len(def.GetNode()) == 0 {
		return nil, core.Errorf(core.InvalidArgument, "a graph to register must have nodes, this one has none")
	}
	if err := s.checkPlaced(def); err != nil {
		return nil, err
	}
	library, err := core.NewLibrary(def.GetLibrary())
	if err != nil {
		return nil, err
	}
	g, err := graph.Read(b, def, library)
	if err != nil {
		return nil, err
	}
	if err := g.Straighten(); err != nil {
		return nil, err
	}
	return s.rt.Build(g, step.BuildOptions{Disabled: pass.DisabledBy(req.GetGraphOptions()), Soft: req.GetConfigProto().GetAllowSoftPlacement(), Recompute: recompute.Asked(req.GetGraphOptions())})
}

// checkPlaced finds nodes that are not on devices of this task.
func (s *session) checkPlaced(def *pb.GraphDef) error {
	for _, n := range def.GetNode() {
		if n.GetDevice() == "" {
			return core.Errorf(core.InvalidArgument, "Node '%s' is missing a device specification", n.GetName())
		}
		if !graph.ValidDevice(n.GetDevice()) {
			return core.Errorf(core.InvalidArgument, "Missing device name in: {{node %s}}", n.GetName())
		}
		if s.rt.Devices.Lookup(n.GetDevice()) == nil {
			return core.Errorf(core.InvalidArgument, "%s unknown device.", n.GetDevice())
		}
	}
	return nil
}

// DeregisterGraph forgets a graph. Masters that open sessions delete those
// instead.
func (w *Worker) DeregisterGraph(_ context.Context, req *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	s, err := w.find(req.GetCreateWorkerSessionCalled(), req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.graphs[req.GetGraphHandle()] == nil {
		return nil, core.Errorf(core.Aborted, "Graph handle is not found: %s. Possibly, this worker just restarted.", req.GetGraphHandle())
	}
	delete(s.graphs, req.GetGraphHandle())
	return &pb.DeregisterGraphResponse{}, nil
}
