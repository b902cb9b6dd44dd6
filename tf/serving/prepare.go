package serving

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// warmUpTime bounds how long a version runs its own signatures before it is available.
const warmUpTime = 2 * time.Second

// prepare plans the signatures, and runs those that leave no trace, so that the first
// request is as fast as later ones. A signature that cannot be planned is no reason to
// serve none: its requests fail, as with TensorFlow Serving.
func (s *Server) prepare(ctx context.Context, v *servable) error {
	if s.cfg.NoPrepare {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, warmUpTime)
	defer cancel()
	for _, name := range sorted(v.signatures) {
		sig := v.signatures[name]
		err := sig.sig.Prepare(ctx)
		if err == nil && !s.cfg.NoWarmup && limited.Err() == nil {
			_ = sig.sig.WarmUp(limited) // out of time: the first request does the rest
			_ = sig.rehearse(s.cfg.TensorContent)
		}
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("a signature cannot be run", "model", v.id.Name, "version", v.id.Version, "signature", name, "error", err)
		}
	}
	return ctx.Err()
}

// rehearse reads a request of zeros and writes an answer, as for a call of Predict, so
// that code and memory for messages are there. Nothing is run, and no metrics are told.
func (s *signature) rehearse(content bool) error {
	in, err := zeros(s.sig.Inputs(), true)
	if err != nil {
		return err
	}
	r := &servingpb.PredictRequest{}
	if err := resent(&servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{SignatureName: s.name}, Inputs: in}, r); err != nil {
		return err
	}
	if _, err := s.tensors(r.GetInputs()); err != nil {
		return err
	}
	out, err := zeros(s.sig.Outputs(), content)
	if err != nil {
		return err
	}
	return resent(&servingpb.PredictResponse{Outputs: out}, &servingpb.PredictResponse{})
}

// zeros returns messages of the tensors that have known sizes.
func zeros(specs []savedmodel.TensorSpec, content bool) (map[string]*pb.TensorProto, error) {
	out := map[string]*pb.TensorProto{}
	for i := range specs {
		t, ok := specs[i].Zeros()
		if !ok {
			return nil, tf.Errorf(tf.FailedPrecondition, "sizes beside the first must be known, %q has shape %v", specs[i].Key, specs[i].Shape)
		}
		var err error
		if out[specs[i].Key], err = encode(t, content); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// resent writes a message and reads it again.
func resent(from, to proto.Message) error {
	b, err := proto.Marshal(from)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, to)
}
