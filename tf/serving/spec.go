package serving

import (
	"context"
	"math/rand/v2"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// acquire lends the version that a request asks for. The caller calls Release.
func (s *Server) acquire(spec *servingpb.ModelSpec) (*handle, error) {
	if spec == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Missing ModelSpec")
	}
	name := spec.GetName()
	if name == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "ModelSpec has no name specified.")
	}
	switch spec.GetVersionChoice().(type) {
	case *servingpb.ModelSpec_Version:
		return s.at(name, spec.GetVersion().GetValue())
	case *servingpb.ModelSpec_VersionLabel:
		return s.labeled(name, spec.GetVersionLabel())
	}
	if h := s.canary(name); h != nil {
		return h, nil
	}
	if h := s.m.Latest(name); h != nil {
		return h, nil
	}
	return nil, tf.Errorf(tf.NotFound, "Servable not found for request: Latest(%s)", name)
}

func (s *Server) at(name string, version int64) (*handle, error) {
	if h := s.m.At(name, version); h != nil {
		return h, nil
	}
	return nil, tf.Errorf(tf.NotFound, "Servable not found for request: Specific(%s, %d)", name, version)
}

func (s *Server) labeled(name, label string) (*handle, error) {
	m := s.model(name)
	if m != nil {
		if v, ok := m.Labels[label]; ok {
			return s.at(name, v)
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Unrecognized servable version label: %s", label)
}

// canary lends the version of a model's canary to its share of the requests, and to
// the others the latest version that is another one: a canary that is the latest
// version would have them all otherwise. It is nil if there is no such version.
func (s *Server) canary(name string) *handle {
	m := s.model(name)
	if m == nil || m.Canary == (Canary{}) {
		return nil
	}
	v, ok := m.Labels[m.Canary.Label]
	if !ok {
		return nil
	}
	if rand.Float64() < m.Canary.Share {
		return s.m.At(name, v)
	}
	return s.m.LatestBut(name, v)
}

// begin makes room for a request; done gives it back.
func (s *Server) begin(ctx context.Context) (done func(), err error) {
	if err := core.NeedContext(ctx, "a request"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, tf.AsError(err)
	}
	if s.slots == nil {
		return func() {}, nil
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	default:
		return nil, tf.Errorf(tf.ResourceExhausted, "at most %d requests are answered at once; try again later", cap(s.slots))
	}
}

// answered returns the specification of what has answered a request. Signature is
// left out if it is "".
func answered(h *handle, signature string) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{
		Name: h.ID.Name, SignatureName: signature,
		VersionChoice: &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(h.ID.Version)},
	}
}

// signatureOf returns the name of the signature that a request asks for.
func signatureOf(spec *servingpb.ModelSpec) string {
	if name := spec.GetSignatureName(); name != "" {
		return name
	}
	return savedmodel.DefaultSignature
}
