package serving

import (
	"context"
	"errors"
	"maps"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// signatureDefField is the only field of metadata.
const signatureDefField = "signature_def"

// GetModelMetadata returns the signatures of a version: a call of
// PredictionService.
func (s *Server) GetModelMetadata(_ context.Context, r *servingpb.GetModelMetadataRequest) (*servingpb.GetModelMetadataResponse, error) {
	if r.GetModelSpec() == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Missing ModelSpec")
	}
	if len(r.GetMetadataField()) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "GetModelMetadataRequest must specify at least one metadata_field")
	}
	for _, f := range r.GetMetadataField() {
		if f != signatureDefField {
			return nil, tf.Errorf(tf.InvalidArgument, "Metadata field %s is not supported", f)
		}
	}
	h, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defer h.Release()
	packed, err := pb.PackAny(&servingpb.SignatureDefMap{SignatureDef: h.Model.signatureDefs()})
	if err != nil {
		return nil, tf.Errorf(tf.Internal, "the signatures cannot be encoded: %v", err)
	}
	return &servingpb.GetModelMetadataResponse{ModelSpec: answered(h, ""), Metadata: map[string]*anypb.Any{signatureDefField: packed}}, nil
}

// signatureDefs returns the signatures of a version as clients see them: without
// defaults.
func (v *servable) signatureDefs() map[string]*pb.SignatureDef {
	out := maps.Clone(v.m.MetaGraph().GetSignatureDef())
	for name, def := range out {
		if len(def.GetDefaults()) > 0 {
			def = proto.Clone(def).(*pb.SignatureDef)
			def.Defaults = nil
			out[name] = def
		}
	}
	return out
}

// GetModelStatus returns the states of one version of a model or of all: a call of
// ModelService. A label in the request counts for nothing.
func (s *Server) GetModelStatus(_ context.Context, r *servingpb.GetModelStatusRequest) (*servingpb.GetModelStatusResponse, error) {
	spec := r.GetModelSpec()
	if spec == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Missing ModelSpec")
	}
	out := &servingpb.GetModelStatusResponse{}
	for _, v := range s.m.Status(spec.GetName()) {
		if spec.GetVersion() == nil || spec.GetVersion().GetValue() == v.Number {
			out.ModelVersionStatus = append(out.ModelVersionStatus, &servingpb.ModelVersionStatus{
				Version: v.Number, State: servingpb.ModelVersionStatus_State(v.State), Status: statusProto(v.Err),
			})
		}
	}
	switch {
	case len(out.ModelVersionStatus) > 0:
		return out, nil
	case spec.GetVersion() != nil:
		return nil, tf.Errorf(tf.NotFound, "Could not find version %d of model %s", spec.GetVersion().GetValue(), spec.GetName())
	}
	return nil, tf.Errorf(tf.NotFound, "Could not find any versions of model %s", spec.GetName())
}

// statusProto returns an error as messages have it. Their texts are UTF-8, and one that
// is not, as a name in a path may be, would cost the whole answer.
func statusProto(err error) *servingpb.StatusProto {
	if err == nil {
		return &servingpb.StatusProto{}
	}
	return &servingpb.StatusProto{ErrorCode: pb.Code(tf.CodeOf(err)), ErrorMessage: strings.ToValidUTF8(tf.AsError(err).Message(), "\uFFFD")}
}

// HandleReloadConfigRequest replaces the models: a call of ModelService. Canaries
// and request logs stay as the program has them: a client does not choose the files
// that the server writes. A canary whose label goes, goes too. Metrics that the request names have not grown, as far as
// this server knows.
func (s *Server) HandleReloadConfigRequest(ctx context.Context, r *servingpb.ReloadConfigRequest) (*servingpb.ReloadConfigResponse, error) {
	models, err := ModelsOf(r.GetConfig())
	if err == nil {
		s.keepOwn(models)
		err = s.Reload(ctx, models)
	}
	if err != nil {
		text := "the configuration is not taken"
		if errors.Is(err, ErrIncomplete) {
			text = "the configuration is taken, but not all of it is served"
		}
		s.cfg.Log.Error(text, "error", err)
		return nil, err
	}
	out := &servingpb.ReloadConfigResponse{Status: statusProto(nil)}
	for _, name := range r.GetMetricNames() {
		out.Metric = append(out.Metric, &servingpb.Metric{Name: name})
	}
	return out, nil
}

// keepOwn gives models what the program has said of those of the same names.
func (s *Server) keepOwn(models []Model) {
	for i := range models {
		models[i].Log = RequestLog{}
		if own := s.model(models[i].Name); own != nil {
			models[i].Log, models[i].Canary = own.Log, own.Canary
		}
		if !models[i].Canary.labeled(&models[i]) {
			models[i].Canary = Canary{}
		}
	}
}
