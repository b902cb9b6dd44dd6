package master_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A fuzzed call reads a request from bytes and makes it, about the session that
// there is.
type fuzzedCall func(ctx context.Context, m *master.Master, handle string, data []byte)

func fuzzed[Req any, P interface {
	*Req
	proto.Message
}, Resp any](call func(*master.Master, context.Context, P) (Resp, error)) fuzzedCall {
	return func(ctx context.Context, m *master.Master, handle string, data []byte) {
		req := P(new(Req))
		if proto.Unmarshal(data, req) != nil {
			return
		}
		if f := req.ProtoReflect().Descriptor().Fields().ByName("session_handle"); f != nil && f.Kind() == protoreflect.StringKind {
			req.ProtoReflect().Set(f, protoreflect.ValueOfString(handle))
		}
		_, _ = call(m, ctx, req)
	}
}

var fuzzedCalls = []fuzzedCall{
	fuzzed((*master.Master).CreateSession), fuzzed((*master.Master).ExtendSession), fuzzed((*master.Master).RunStep),
	fuzzed((*master.Master).PartialRunSetup), fuzzed((*master.Master).CloseSession), fuzzed((*master.Master).ListDevices),
	fuzzed((*master.Master).Reset), fuzzed((*master.Master).MakeCallable), fuzzed((*master.Master).RunCallable), fuzzed((*master.Master).ReleaseCallable),
}

// patience is for how long what is bounded may take on a slow machine.
const patience = 2 * time.Minute

// FuzzMasterRequests: whatever a client asks for, graphs among it, the master
// answers in time, or when the client gives up, and can be closed. Two calls
// follow each other.
func FuzzMasterRequests(f *testing.F) {
	step := &pb.RunStepRequest{
		Feed: []*pb.NamedTensorProto{{Name: "x:0", Tensor: core.TensorProto(core.Scalar[float32](1))}}, Fetch: []string{"y:0"},
		Options: &pb.RunOptions{TraceLevel: pb.RunOptions_FULL_TRACE, OutputPartitionGraphs: true},
	}
	piece := proto.CloneOf(step)
	piece.PartialRunHandle = "0"
	callable := &pb.MakeCallableRequest{Options: &pb.CallableOptions{Feed: []string{"x:0"}, Fetch: []string{"y:0"}}}
	more := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "z", Op: "NoOp", Input: []string{"^y"}}}, Versions: &pb.VersionDef{Producer: core.ProducerVersion}}
	whole := graphDef(f, toAndFro(), 0)
	for _, seed := range [][4]any{
		{2, step, 2, step}, {3, &pb.PartialRunSetupRequest{Feed: []string{"x:0"}, Fetch: []string{"y:0"}}, 2, piece},
		{7, callable, 8, &pb.RunCallableRequest{Feed: []*pb.TensorProto{core.TensorProto(core.Scalar[float32](1))}}},
		{1, &pb.ExtendSessionRequest{GraphDef: more}, 2, &pb.RunStepRequest{Target: []string{"z"}}},
		{0, &pb.CreateSessionRequest{GraphDef: whole, Config: &pb.ConfigProto{IsolateSessionState: true, AllowSoftPlacement: true}}, 6, &pb.ResetRequest{Container: []string{"c"}}},
		{5, &pb.ListDevicesRequest{}, 4, &pb.CloseSessionRequest{}}, {9, &pb.ReleaseCallableRequest{Handle: 1}, 8, &pb.RunCallableRequest{Handle: -1}},
	} {
		f.Add(uint8(seed[0].(int)), marshal(f, seed[1]), uint8(seed[2].(int)), marshal(f, seed[3]))
	}
	f.Fuzz(func(t *testing.T, call uint8, data []byte, next uint8, more []byte) {
		defer time.AfterFunc(patience, func() { panic("a call hangs") }).Stop()
		m := newCluster(t, ps0, worker0, worker1).master(worker0)
		s := connect(t, m, toAndFro(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		fuzzedCalls[int(call)%len(fuzzedCalls)](ctx, m, s.handle, data)
		fuzzedCalls[int(next)%len(fuzzedCalls)](ctx, m, s.handle, more)
	})
}

// FuzzCreateSession: graphs of any bytes are taken or refused.
func FuzzCreateSession(f *testing.F) {
	for _, g := range []*tf.Graph{toAndFro(), counter()} {
		f.Add(marshal(f, graphDef(f, g, 0)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		def := &pb.GraphDef{}
		if proto.Unmarshal(data, def) != nil {
			return
		}
		defer time.AfterFunc(patience, func() { panic("a call hangs") }).Stop()
		m := newCluster(t, ps0, worker0, worker1).master(worker0)
		made, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: def})
		if err != nil {
			return
		}
		if _, err := m.CloseSession(t.Context(), &pb.CloseSessionRequest{SessionHandle: made.GetSessionHandle()}); err != nil {
			t.Errorf("closing the session of a fuzzed graph: %v", err)
		}
	})
}

func marshal(f *testing.F, m any) []byte {
	f.Helper()
	data, err := proto.Marshal(m.(proto.Message))
	if err != nil {
		f.Fatal(err)
	}
	return data
}
