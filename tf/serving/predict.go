package serving

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// Predict runs a signature on tensors: a call of PredictionService.
func (s *Server) Predict(ctx context.Context, r *servingpb.PredictRequest) (*servingpb.PredictResponse, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defer h.Release()
	out, err := h.Model.predictProto(ctx, r, s.cfg)
	if err != nil {
		return nil, err
	}
	out.ModelSpec = answered(h, signatureOf(r.GetModelSpec()))
	s.logs.add(s.model(h.ID.Name), h, func() *servingpb.PredictionLog {
		return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{Request: r, Response: out}}}
	})
	return out, nil
}

// predictProto runs a request whose model has been found.
func (v *servable) predictProto(ctx context.Context, r *servingpb.PredictRequest, c Config) (*servingpb.PredictResponse, error) {
	sig, err := v.predictor(signatureOf(r.GetModelSpec()), c.CheckMethods)
	if err != nil {
		return nil, err
	}
	in, err := sig.tensors(r.GetInputs())
	if err != nil {
		return nil, err
	}
	got, err := v.predict(ctx, sig, in, r.GetOutputFilter())
	if err != nil {
		return nil, err
	}
	out := &servingpb.PredictResponse{Outputs: make(map[string]*pb.TensorProto, len(got))}
	for k, t := range got {
		if out.Outputs[k], err = encode(t, c.TensorContent); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// predictor finds the signature of a call of Predict.
func (v *servable) predictor(name string, checkMethod bool) (*signature, error) {
	sig := v.signatures[name]
	if sig == nil {
		return nil, tf.Errorf(tf.FailedPrecondition, "Serving signature key \"%s\" not found.", name)
	}
	methods := []string{savedmodel.PredictMethod, savedmodel.ClassifyMethod, savedmodel.RegressMethod}
	if checkMethod && !slices.Contains(methods, sig.def.GetMethodName()) {
		return nil, tf.Errorf(tf.Internal, "Expected prediction signature method_name to be one of {%s}. Was: %s", strings.Join(methods, ", "), sig.def.GetMethodName())
	}
	return sig, sig.sig.Err()
}

// predict runs a signature on tensors.
func (v *servable) predict(ctx context.Context, sig *signature, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
	if err := sig.checkOutputs(want); err != nil {
		return nil, err
	}
	start := time.Now()
	out, err := sig.run(ctx, in, want)
	if err == nil {
		v.metrics.Run(v.id.Name, "Predict", time.Since(start))
	}
	return out, err
}

// tensors reads the tensors of a request and checks their keys.
func (s *signature) tensors(in map[string]*pb.TensorProto) (map[string]*tf.Tensor, error) {
	if len(in) > len(s.keys) || len(in) < len(s.keys) && len(s.need) == len(s.keys) {
		return nil, s.wrongSize(sorted(in))
	}
	out := make(map[string]*tf.Tensor, len(in))
	for _, key := range s.keys {
		p, ok := in[key]
		if !ok {
			if s.specs[key].Default == nil {
				return nil, s.missing(key, sorted(in))
			}
			continue
		}
		t, err := core.TensorFromProto(p)
		if tf.CodeOf(err) == tf.ResourceExhausted {
			return nil, err // a message of some bytes may stand for a large tensor
		}
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "tensor parsing error: %s", key)
		}
		out[key] = (*tf.Tensor)(t)
	}
	if len(out) != len(in) {
		return nil, tf.Errorf(tf.InvalidArgument, "Inputs contains invalid name. Used request inputs: %s, request input: %s", strings.Join(sorted(out), ","), strings.Join(sorted(in), ","))
	}
	return out, nil
}

func (s *signature) wrongSize(got []string) error {
	return tf.Errorf(tf.InvalidArgument, "input size does not match signature: %d!=%d len({%s}) != len({%s}). Sent extra: {%s}. Missing but required: {%s}.",
		len(got), len(s.keys), strings.Join(got, ","), strings.Join(s.keys, ","), strings.Join(without(got, s.keys), ","), strings.Join(without(s.keys, got), ","))
}

func (s *signature) missing(key string, got []string) error {
	return tf.Errorf(tf.InvalidArgument, "Signature input alias: %s(feed name: %s) not found in request and no default value provided. Inputs expected to be in the request {%s}, or default input alias set: %s",
		key, s.specs[key].Name, strings.Join(got, ","), strings.Join(without(s.keys, s.need), ","))
}

// without returns the strings of a that are not in b.
func without(a, b []string) (out []string) {
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// checkOutputs checks the outputs that a request wants.
func (s *signature) checkOutputs(want []string) error {
	for i, key := range want {
		switch {
		case !slices.Contains(s.outs, key):
			return tf.Errorf(tf.InvalidArgument, "output tensor alias not found in signature: %s Outputs expected to be in the set {%s}.", key, strings.Join(s.outs, ","))
		case slices.Contains(want[:i], key):
			return tf.Errorf(tf.InvalidArgument, "duplicate output tensor alias: %s", key)
		}
	}
	return nil
}
