package worker

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A fuzzed call reads a request from bytes and makes it.
type fuzzedCall func(ctx context.Context, w *Worker, data []byte)

func fuzzed[Req any, P interface {
	*Req
	proto.Message
}, Resp any](call func(*Worker, context.Context, P) (Resp, error)) fuzzedCall {
	return func(ctx context.Context, w *Worker, data []byte) {
		req := P(new(Req))
		if proto.Unmarshal(data, req) == nil {
			_, _ = call(w, ctx, req)
		}
	}
}

var fuzzedCalls = []fuzzedCall{
	fuzzed((*Worker).GetStatus), fuzzed((*Worker).CreateWorkerSession), fuzzed((*Worker).DeleteWorkerSession),
	fuzzed((*Worker).RegisterGraph), fuzzed((*Worker).DeregisterGraph), fuzzed((*Worker).RunGraph),
	fuzzed((*Worker).CleanupGraph), fuzzed((*Worker).CleanupAll), fuzzed((*Worker).RecvTensor),
	fuzzed((*Worker).MarkRecvFinished), fuzzed((*Worker).Logging), fuzzed((*Worker).Tracing),
	fuzzed((*Worker).RecvBuf), fuzzed((*Worker).GetStepSequence), fuzzed((*Worker).CompleteGroup), fuzzed((*Worker).CompleteInstance),
}

// patience is for how long what is bounded may take on a slow machine.
const patience = 2 * time.Minute

// FuzzWorkerRequests: whatever a call asks for, the worker answers it in time,
// or when the caller gives up, and can be closed. Two calls follow each other.
func FuzzWorkerRequests(f *testing.F) {
	w := newWorker(f)
	s := openSession(f, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	sig := pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}}
	register := &pb.RegisterGraphRequest{SessionHandle: "s", CreateWorkerSessionCalled: true, GraphDef: definition(f, w, adder(), sig)}
	run := s.request("0000000000000000", map[string]*core.Tensor{"x:0": core.Scalar[float32](1), "y:0": core.Scalar[float32](2)}, "sum:0")
	again := proto.CloneOf(run)
	again.IsPartial, again.RequestId = true, 7
	legacy := proto.CloneOf(run)
	legacy.CreateWorkerSessionCalled, legacy.RequestId, legacy.RecvKey = false, 8, []string{w.key("nothing")}
	for _, seed := range [][4]any{
		{3, register, 5, run}, {3, register, 5, again}, {3, register, 5, legacy},
		{3, register, 4, &pb.DeregisterGraphRequest{SessionHandle: "s", CreateWorkerSessionCalled: true, GraphHandle: "0000000000000000"}},
		{5, run, 6, &pb.CleanupGraphRequest{StepId: 1}},
		{8, &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("x:0"), RequestId: 3}, 9, &pb.MarkRecvFinishedRequest{RequestId: 3}},
		{1, &pb.CreateWorkerSessionRequest{SessionHandle: "t", MasterTask: "m", IsolateSessionState: true}, 2, &pb.DeleteWorkerSessionRequest{SessionHandle: "t"}},
		{10, &pb.LoggingRequest{EnableRpcLogging: true}, 10, &pb.LoggingRequest{FetchStepId: []int64{1}}},
		{7, &pb.CleanupAllRequest{Container: []string{"c"}}, 0, &pb.GetStatusRequest{}},
		{14, &pb.CompleteGroupRequest{GroupKey: 1, GroupSize: 1, DeviceType: "CPU", DeviceAttributes: &pb.DeviceAttributes{Name: task + "/device:CPU:0"}}, 15,
			&pb.CompleteInstanceRequest{GroupKey: 1, GroupSize: 1, Type: 1, Device: task + "/device:CPU:0", IsSource: true}},
		{12, &pb.RecvBufRequest{RequestId: 1}, 13, &pb.GetStepSequenceRequest{GraphKey: []int64{1}}},
	} {
		first, second := marshal(f, seed[1]), marshal(f, seed[3])
		f.Add(uint8(seed[0].(int)), first, uint8(seed[2].(int)), second)
	}
	f.Fuzz(func(t *testing.T, call uint8, data []byte, next uint8, more []byte) {
		defer time.AfterFunc(patience, func() { panic("a call hangs") }).Stop()
		w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 2), Rendezvous: rendezvous.NewManager(0), Collectives: collective.New(collective.Env{})})
		defer w.Close()
		openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		fuzzedCalls[int(call)%len(fuzzedCalls)](ctx, w, data)
		fuzzedCalls[int(next)%len(fuzzedCalls)](ctx, w, more)
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
