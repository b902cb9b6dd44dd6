package serving

import (
	"context"
	"errors"
	"math"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/wire/weight"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// maxStatus bounds the text of an error by gRPC: it travels in a header.
const maxStatus = 1024

// maxHeaders bounds what comes with a call beside its message.
const maxHeaders = 256 << 10

// weighing is the codec of messages that refuses a request for whose decoding there is no
// memory.
type weighing struct{ encoding.CodecV2 }

// A weighed request keeps why there is no memory for it: gRPC makes an Internal error of
// all that a codec returns. Codecs that know nothing of it see the message.
type weighed struct {
	protoreflect.ProtoMessage
	err error
}

// Unmarshal decodes data, which it does not keep, into v.
func (w weighing) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(protoreflect.ProtoMessage)
	if !ok || data.Len() < weight.Negligible {
		return w.CodecV2.Unmarshal(data, v)
	}
	flat := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer flat.Free()
	if err := weight.Room(flat.ReadOnlyData(), m); err != nil {
		if r, ok := v.(*weighed); ok {
			r.err = err
			return nil
		}
		return err
	}
	return w.CodecV2.Unmarshal(mem.BufferSlice{flat}, v)
}

// GRPCOptions returns options for a gRPC server that suit models: large messages,
// and, with [Config.Security], credentials and who may call what. A program must
// not give the gRPC server an InTapHandle or credentials of its own then. Without
// Security it should give it those of [Credentials].
func (s *Server) GRPCOptions() []grpc.ServerOption {
	limit := s.cfg.MaxMessage
	if limit <= 0 {
		limit = math.MaxInt32
	}
	opts := []grpc.ServerOption{grpc.MaxRecvMsgSize(inbound.MaxMessage(limit)), grpc.MaxHeaderListSize(maxHeaders), grpc.StaticStreamWindowSize(inbound.Window), grpc.MaxSendMsgSize(math.MaxInt32), grpc.ForceServerCodecV2(weighing{encoding.GetCodecV2(proto.Name)})}
	if s.cfg.MaxStreams > 0 {
		opts = append(opts, grpc.MaxConcurrentStreams(s.cfg.MaxStreams))
	}
	if s.cfg.Observer != nil {
		opts = append(opts, grpc.ChainUnaryInterceptor(s.observe))
	}
	if s.cfg.Security != nil {
		opts = append(opts, grpc.Creds(Credentials(secure.NewCredentials(s.cfg.Security))), grpc.InTapHandle(s.admit))
	}
	return opts
}

// RegisterGRPC makes a gRPC server answer calls of PredictionService and
// ModelService.
func (s *Server) RegisterGRPC(g grpc.ServiceRegistrar) {
	g.RegisterService(&grpc.ServiceDesc{ServiceName: method.PredictionService, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{
		unary(s, method.PredictionPredict, s.Predict),
		unary(s, method.PredictionClassify, s.Classify),
		unary(s, method.PredictionRegress, s.Regress),
		unary(s, method.PredictionMultiInference, s.MultiInference),
		unary(s, method.PredictionGetModelMetadata, s.GetModelMetadata),
	}}, s)
	g.RegisterService(&grpc.ServiceDesc{ServiceName: method.ModelService, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{
		unary(s, method.ModelGetModelStatus, s.GetModelStatus),
		unary(s, method.ModelHandleReloadConfigRequest, s.HandleReloadConfigRequest),
	}}, s)
}

// counted are the calls that metrics are kept of.
var counted = map[string]bool{"Predict": true, "Classify": true, "Regress": true, "MultiInference": true}

// unary describes the method of a path.
func unary[Req, Resp any](s *Server, full string, call func(context.Context, *Req) (*Resp, error)) grpc.MethodDesc {
	name := path.Base(full)
	answer := func(ctx context.Context, r any) (any, error) {
		start := time.Now()
		var out *Resp
		err := core.Guard(name, func() (err error) { out, err = call(ctx, r.(*Req)); return err })
		if counted[name] {
			s.count(modelOf(r), name, "GRPC", err, start)
		}
		if err != nil {
			return nil, statusOf(ctx, err)
		}
		return out, nil
	}
	handle := func(_ any, ctx context.Context, dec func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		r := new(Req)
		if err := decode(ctx, dec, r); err != nil {
			return nil, err
		}
		if intercept == nil {
			return answer(ctx, r)
		}
		return intercept(ctx, r, &grpc.UnaryServerInfo{Server: s, FullMethod: full}, answer)
	}
	return grpc.MethodDesc{MethodName: name, Handler: handle}
}

// decode decodes a request into m.
func decode(ctx context.Context, dec func(any) error, m any) error {
	r := weighed{ProtoMessage: m.(protoreflect.ProtoMessage)}
	if err := dec(&r); err != nil {
		return err
	}
	if r.err != nil {
		return statusOf(ctx, r.err)
	}
	return nil
}

// modelOf returns the name of the model that a request is about.
func modelOf(r any) string {
	switch r := r.(type) {
	case interface{ GetModelSpec() *servingpb.ModelSpec }:
		return r.GetModelSpec().GetName()
	case *servingpb.MultiInferenceRequest:
		if len(r.GetTasks()) > 0 {
			return r.GetTasks()[0].GetModelSpec().GetName()
		}
	}
	return ""
}

// statusOf returns an error as gRPC has it.
func statusOf(ctx context.Context, err error) error {
	e := tf.AsError(err)
	if e.Code == tf.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "Deadline Exceeded")
	}
	text := e.WireMessage()
	if len(text) > maxStatus {
		text = text[:maxStatus] + "...TRUNCATED"
	}
	return status.Error(codes.Code(e.Code), text)
}
