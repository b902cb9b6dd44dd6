package rpc

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The methods that TensorFlow's services have.
var (
	masterMethods = strings.Fields(`CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset
		MakeCallable RunCallable ReleaseCallable`)
	workerMethods = strings.Fields(`GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph
		CleanupGraph CleanupAll RecvTensor RecvBuf Logging Tracing CompleteGroup CompleteInstance GetStepSequence MarkRecvFinished`)
	eagerMethods = strings.Fields(`CreateContext UpdateContext Enqueue WaitQueueDone RunComponentFunction KeepAlive CloseContext`)
	verbsMethods = []string{"GetRemoteAddress"}
)

func TestServiceDescriptions(t *testing.T) {
	for _, c := range []struct {
		desc *grpc.ServiceDesc
		name string
		want []string
	}{
		{&descMaster, "tensorflow.MasterService", masterMethods},
		{&descWorker, "tensorflow.WorkerService", workerMethods},
		{&descEager, "tensorflow.eager.EagerService", eagerMethods},
		{&descVerbs, "tensorflow.VerbsService", verbsMethods},
	} {
		var got []string
		for _, m := range c.desc.Methods {
			got = append(got, m.MethodName)
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if c.desc.ServiceName != c.name || !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %s with %v", c.desc.ServiceName, got, c.name, want)
		}
	}
	if s := descEager.Streams; len(s) != 1 || s[0].StreamName != "StreamingEnqueue" {
		t.Errorf("the streams of %s are %v, want StreamingEnqueue", descEager.ServiceName, s)
	}
}

// callAll calls methods of a client with an empty request and returns the
// errors by method.
func callAll(client any, methods []string) map[string]error {
	out := map[string]error{}
	v := reflect.ValueOf(client)
	for _, name := range methods {
		m := v.MethodByName(name)
		if !m.IsValid() {
			continue
		}
		args := []reflect.Value{reflect.ValueOf(context.Background()), reflect.New(m.Type().In(1).Elem())}
		for j := 2; j < m.Type().NumIn(); j++ {
			args = append(args, reflect.Zero(m.Type().In(j)))
		}
		results := m.Call(args)
		err, _ := results[len(results)-1].Interface().(error)
		out[name] = err
	}
	return out
}

func TestUnimplementedNamesTheMethod(t *testing.T) {
	addr := serve(t, ServerConfig{}, withMaster(UnimplementedMaster{}), withWorker(UnimplementedWorker{}), func(s *grpc.Server) {
		RegisterEager(s, UnimplementedEager{})
		RegisterVerbs(s, UnimplementedVerbs{})
	})
	cc := dial(t, addr, DialConfig{})
	for _, c := range []struct {
		client any
		want   []string
	}{{NewMasterClient(cc), masterMethods}, {NewWorkerClient(cc), workerMethods}, {NewEagerClient(cc), eagerMethods}, {NewVerbsClient(cc), verbsMethods}} {
		errs := callAll(c.client, c.want)
		if len(errs) != len(c.want) {
			t.Errorf("client has %d methods, want %d", len(errs), len(c.want))
		}
		for _, name := range c.want {
			if err := errs[name]; core.CodeOf(err) != core.Unimplemented || !strings.Contains(err.Error(), name+" is not implemented") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A streamer answers the requests of a stream, and panics at the one of context 7.
type streamer struct{ UnimplementedEager }

func (streamer) StreamingEnqueue() func(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return func(_ context.Context, r *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
		if r.GetContextId() == 7 {
			panic("a bug")
		}
		return &pb.EnqueueResponse{QueueResponse: make([]*pb.QueueResponse, r.GetContextId())}, nil
	}
}

// TestStreams: the requests of a stream are answered in turn, an unimplemented one
// names the method, and a panic ends the stream only.
func TestStreams(t *testing.T) {
	for want, srv := range map[string]EagerServer{"StreamingEnqueue is not implemented": UnimplementedEager{}, "panic in StreamingEnqueue: a bug": streamer{}} {
		cc := dial(t, serve(t, ServerConfig{}, func(s *grpc.Server) { RegisterEager(s, srv) }), DialConfig{})
		s, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method.EagerStreamingEnqueue)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []uint64{2, 3, 7} {
			resp := &pb.EnqueueResponse{}
			if err = errors.Join(s.SendMsg(&pb.EnqueueRequest{ContextId: id}), s.RecvMsg(resp)); err != nil {
				break
			}
			if len(resp.GetQueueResponse()) != int(id) {
				t.Errorf("request %d is answered by %v", id, resp)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the stream ended with %v, want %q", err, want)
		}
	}
}

// TestUnknownService: what a server does not serve at all.
func TestUnknownService(t *testing.T) {
	cc := dial(t, serve(t, ServerConfig{}), DialConfig{})
	if _, err := NewWorkerClient(cc).GetStatus(context.Background(), &pb.GetStatusRequest{}); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("calling a service that is not there: %v", err)
	}
}

// An echo answers with what was asked.
type echo struct {
	UnimplementedMaster
	UnimplementedWorker
}

func (echo) CreateSession(_ context.Context, r *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error) {
	return &pb.CreateSessionResponse{SessionHandle: r.GetTarget(), GraphVersion: int64(len(r.GetGraphDef().GetNode()))}, nil
}

func (echo) RunGraph(_ context.Context, r *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return &pb.RunGraphResponse{Recv: r.GetSend()}, nil
}

func TestMessagesCross(t *testing.T) {
	cc := dial(t, serve(t, ServerConfig{}, withMaster(echo{}), withWorker(echo{})), DialConfig{})
	ctx := context.Background()
	got, err := NewMasterClient(cc).CreateSession(ctx, &pb.CreateSessionRequest{Target: "grpc://here", GraphDef: &pb.GraphDef{Node: []*pb.NodeDef{{}, {}}}})
	if err != nil || got.GetSessionHandle() != "grpc://here" || got.GetGraphVersion() != 2 {
		t.Errorf("CreateSession = %v, %v", got, err)
	}
	// More than the four megabytes that gRPC allows by itself.
	feed := &pb.NamedTensorProto{Name: "x:0", Tensor: core.TensorProto(random(core.Float32, core.Shape{1200, 1200}))}
	ran, err := NewWorkerClient(cc).RunGraph(ctx, &pb.RunGraphRequest{Send: []*pb.NamedTensorProto{feed}})
	if err != nil {
		t.Fatal(err)
	}
	if len(ran.GetRecv()) != 1 || !proto.Equal(ran.GetRecv()[0], feed) {
		t.Error("RunGraph's tensors do not arrive as they were sent")
	}
}
