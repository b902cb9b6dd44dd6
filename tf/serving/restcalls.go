package serving

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/serving/restjson"
)

func lower(s string) string { return strings.ToLower(s) }

// specOf returns what the parts of a path ask for.
func specOf(parts []string) (*servingpb.ModelSpec, error) {
	name, err := url.PathUnescape(parts[1])
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Failed to decode model name:%s", parts[1])
	}
	spec := &servingpb.ModelSpec{Name: name}
	if parts[2] != "" {
		v, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "Failed to convert version: %s to numeric.", parts[2])
		}
		spec.VersionChoice = &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(v)}
	}
	if parts[3] != "" {
		label, err := url.PathUnescape(parts[3])
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "Failed to decode model version label:%s", parts[3])
		}
		spec.VersionChoice = &servingpb.ModelSpec_VersionLabel{VersionLabel: label}
	}
	return spec, nil
}

// body reads the body of a request, and inflates it if it is compressed. Both forms
// are bounded, and what has come of bodies is bounded for all requests together.
func (h *rest) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := min(h.s.cfg.MaxBody, inbound.Most())
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	in := io.Reader(http.MaxBytesReader(w, r.Body, limit))
	size := r.ContentLength
	switch encoding := r.Header.Get("Content-Encoding"); lower(encoding) {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "the body is not in gzip's format: %v", err)
		}
		in, size = http.MaxBytesReader(w, io.NopCloser(z), limit), -1
	default:
		return nil, tf.Errorf(tf.InvalidArgument, "Content-Encoding must be gzip or identity, got %q", encoding)
	}
	b := inbound.OpenBody(w, in)
	defer b.Close()
	all, err := b.ReadAll(size)
	if err != nil {
		return nil, unreadable(err)
	}
	return all, nil
}

// unreadable returns what is said of a body that cannot be read.
func unreadable(err error) error {
	code := tf.InvalidArgument
	if core.Exhausted(err) || errors.Is(err, inbound.ErrCrowded) {
		code = tf.ResourceExhausted
	}
	return &core.Error{Code: code, Msg: "the body of the request cannot be read: " + err.Error(), Err: err}
}

// compute answers :predict, :classify and :regress.
func (h *rest) compute(ctx context.Context, method string, spec *servingpb.ModelSpec, body []byte) ([]byte, error) {
	if method == "predict" {
		return h.predict(ctx, spec, body)
	}
	signature, in, err := restjson.ParseExamples(body)
	if err != nil {
		return nil, err
	}
	spec.SignatureName = signature
	if method == "classify" {
		out, err := h.s.Classify(ctx, &servingpb.ClassificationRequest{ModelSpec: spec, Input: in})
		if err != nil {
			return nil, err
		}
		return restjson.AppendClassification(nil, out.GetResult())
	}
	out, err := h.s.Regress(ctx, &servingpb.RegressionRequest{ModelSpec: spec, Input: in})
	if err != nil {
		return nil, err
	}
	return restjson.AppendRegression(nil, out.GetResult())
}

// predict answers :predict without messages: tensors come out of JSON and go there.
func (h *rest) predict(ctx context.Context, spec *servingpb.ModelSpec, body []byte) ([]byte, error) {
	done, err := h.s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := h.s.acquire(spec)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	r, err := restjson.ParsePredict(body, func(name string) (map[string]tf.DType, error) {
		spec.SignatureName = name
		return v.Model.types(signatureOf(spec))
	})
	if err != nil {
		return nil, err
	}
	sig, err := v.Model.predictor(signatureOf(spec), h.s.cfg.CheckMethods)
	if err != nil {
		return nil, err
	}
	out, err := v.Model.predict(ctx, sig, r.Inputs, nil)
	if err != nil {
		return nil, err
	}
	h.s.logs.add(h.s.model(v.ID.Name), v, func() *servingpb.PredictionLog { return logOf(spec, r.Inputs, out, v) })
	return restjson.AppendPrediction(nil, out, r.Format)
}

// types returns the types of the inputs of a signature.
func (v *servable) types(name string) (map[string]tf.DType, error) {
	sig := v.signatures[name]
	if sig == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Serving signature name: \"%s\" not found in signature def", name)
	}
	out := make(map[string]tf.DType, len(sig.specs))
	for key, in := range sig.specs {
		out[key] = in.DType
	}
	return out, nil
}

// logOf returns the record of a request by REST. Tensors that cannot be encoded are
// left out.
func logOf(spec *servingpb.ModelSpec, in, out map[string]*tf.Tensor, h *handle) *servingpb.PredictionLog {
	messages := func(ts map[string]*tf.Tensor) map[string]*pb.TensorProto {
		m := map[string]*pb.TensorProto{}
		for k, t := range ts {
			if p, err := encode(t, true); err == nil {
				m[k] = p
			}
		}
		return m
	}
	return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{
		Request:  &servingpb.PredictRequest{ModelSpec: spec, Inputs: messages(in)},
		Response: &servingpb.PredictResponse{ModelSpec: answered(h, signatureOf(spec)), Outputs: messages(out)},
	}}}
}

// describe answers questions about a model: for its status, or its metadata.
func (h *rest) describe(ctx context.Context, spec *servingpb.ModelSpec, metadata bool) ([]byte, error) {
	if spec.GetName() == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "Missing model name in request.")
	}
	if !metadata {
		out, err := h.s.GetModelStatus(ctx, &servingpb.GetModelStatusRequest{ModelSpec: spec})
		if err != nil {
			return nil, err
		}
		return toJSON(out)
	}
	out, err := h.s.GetModelMetadata(ctx, &servingpb.GetModelMetadataRequest{ModelSpec: spec, MetadataField: []string{signatureDefField}})
	if err != nil {
		return nil, err
	}
	return metadataJSON(out)
}

// metadataJSON writes metadata with the signatures in place of the message that they
// are packed in.
func metadataJSON(out *servingpb.GetModelMetadataResponse) ([]byte, error) {
	signatures := &servingpb.SignatureDefMap{}
	if err := pb.UnpackAny(out.GetMetadata()[signatureDefField], signatures); err != nil {
		return nil, tf.Errorf(tf.Internal, "Failed to unpack 'Any' object to 'SignatureDefMap'.")
	}
	spec, err := toJSON(out.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defs, err := toJSON(signatures)
	if err != nil {
		return nil, err
	}
	return indent(map[string]any{"model_spec": json.RawMessage(spec), "metadata": map[string]any{signatureDefField: json.RawMessage(defs)}})
}

// toJSON writes a message with the names of its fields, also of those that have
// their default values.
func toJSON(m proto.Message) ([]byte, error) {
	b, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true, Resolver: pb.Resolver}.Marshal(m)
	if err != nil {
		return nil, tf.Errorf(tf.Internal, "Failed to convert proto to json. Error: %v", err)
	}
	return indent(json.RawMessage(b))
}

// indent writes JSON in lines.
func indent(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, tf.Errorf(tf.Internal, "Failed to convert proto to json. Error: %v", err)
	}
	return append(b, '\n'), nil
}

func errorBody(err error) []byte { return restjson.AppendError(nil, tf.AsError(err).WireMessage()) }
