package master

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ExtendSession adds nodes to a session's graph.
func (m *Master) ExtendSession(ctx context.Context, req *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error) {
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if err := m.admit(); err != nil {
		return nil, err
	}
	if err := checkSyntax(req.GetGraphDef()); err != nil {
		return nil, err
	}
	version, err := s.extend(ctx, req)
	if err != nil {
		return nil, err
	}
	return &pb.ExtendSessionResponse{NewGraphVersion: version}, nil
}

func (s *session) extend(ctx context.Context, req *pb.ExtendSessionRequest) (int64, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.done()
	ctx, cancel := bound(ctx, s.ctx)
	defer cancel()
	select {
	case s.extending <- struct{}{}:
		defer func() { <-s.extending }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if s.version != req.GetCurrentGraphVersion() {
		return 0, core.Errorf(core.Aborted, "Current version is %d but caller expected %d.", s.version, req.GetCurrentGraphVersion())
	}
	def, err := extended(s.def, req.GetGraphDef())
	if err != nil {
		return 0, err
	}
	if err := s.setGraph(ctx, def); err != nil {
		return 0, err
	}
	s.version++
	return s.version, nil
}

// extended returns a graph with more nodes. The old one stays as it is. The
// versions become those of the new part: a client that has imported a graph of an
// older program goes on with that one's.
func extended(old, more *pb.GraphDef) (*pb.GraphDef, error) {
	known := make(map[string]bool, len(old.GetNode()))
	for _, n := range old.GetNode() {
		known[n.GetName()] = true
	}
	for _, n := range more.GetNode() {
		if known[n.GetName()] {
			return nil, core.Errorf(core.InvalidArgument, "GraphDef argument to Extend includes node '%s', which was created by a previous call to Create or Extend in this session.", n.GetName())
		}
	}
	library, err := mergeLibraries(old.GetLibrary(), more.GetLibrary())
	if err != nil {
		return nil, err
	}
	return &pb.GraphDef{Node: slices.Concat(old.GetNode(), more.GetNode()), Versions: more.GetVersions(), Library: library}, nil
}

// mergeLibraries returns the functions of both. One that both have must be the
// same.
func mergeLibraries(old, more *pb.FunctionDefLibrary) (*pb.FunctionDefLibrary, error) {
	if old == nil || more == nil {
		if old == nil {
			old = more
		}
		return old, nil
	}
	out := &pb.FunctionDefLibrary{Function: slices.Clone(old.GetFunction()), Gradient: slices.Clone(old.GetGradient())}
	known := map[string]*pb.FunctionDef{}
	for _, f := range old.GetFunction() {
		known[f.GetSignature().GetName()] = f
	}
	for _, f := range more.GetFunction() {
		name := f.GetSignature().GetName()
		if have := known[name]; have == nil {
			out.Function = append(out.Function, f)
		} else if !proto.Equal(have, f) {
			return nil, core.Errorf(core.InvalidArgument, "Cannot add function '%s' because a different function with the same name already exists.", name)
		}
	}
	for _, g := range more.GetGradient() {
		if !slices.ContainsFunc(out.Gradient, func(h *pb.GradientDef) bool { return proto.Equal(g, h) }) {
			out.Gradient = append(out.Gradient, g)
		}
	}
	return out, nil
}
