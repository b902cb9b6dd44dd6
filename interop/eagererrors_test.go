package interop

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A rawCall is one of the eager service, without a client that would correct it.
type rawCall struct {
	what, method string
	req, resp    proto.Message
}

const eagerCPU = "/job:localhost/replica:0/task:0/device:CPU:0"

func eagerQueue(what string, items ...*pb.QueueItem) rawCall {
	return rawCall{what, "Enqueue", &pb.EnqueueRequest{ContextId: 7, Queue: items}, &pb.EnqueueResponse{}}
}

func eagerContext(what string, change func(*pb.CreateContextRequest)) rawCall {
	req := &pb.CreateContextRequest{ContextId: 7, ContextViewId: 1, ServerDef: &pb.ServerDef{JobName: "localhost", Protocol: "grpc", Cluster: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "localhost", Tasks: map[int32]string{0: "localhost:1"}}}}}}
	change(req)
	return rawCall{what, "CreateContext", req, &pb.CreateContextResponse{}}
}

func eagerOp(what string, op *pb.Operation, in ...*pb.Operation_Input) rawCall {
	op.OpInputs = in
	return eagerQueue(what, &pb.QueueItem{Item: &pb.QueueItem_Operation{Operation: op}})
}

func eagerOn(op int64, output int32, device string) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_RemoteHandle{RemoteHandle: &pb.RemoteTensorHandle{OpId: op, OutputNum: output, Device: device, OpDevice: device, Dtype: 1}}}
}

func eagerTensor(t pb.DataType, sizes ...int64) *pb.TensorProto {
	p := &pb.TensorProto{Dtype: t, TensorShape: &pb.TensorShapeProto{}, FloatVal: []float32{2}, IntVal: []int32{2}}
	for _, n := range sizes {
		p.TensorShape.Dim = append(p.TensorShape.Dim, &pb.TensorShapeProto_Dim{Size: n})
	}
	return p
}

func eagerGiven(p *pb.TensorProto) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: p}}
}

func typeAttrs(name string, t pb.DataType) map[string]*pb.AttrValue {
	return map[string]*pb.AttrValue{name: {Value: &pb.AttrValue_Type{Type: t}}}
}

func eagerFunction(f *pb.FunctionDef) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{FunctionDef: f}}}
}

func squares(name, op, ret string) *pb.FunctionDef {
	return &pb.FunctionDef{
		Signature: &pb.OpDef{Name: name, InputArg: []*pb.OpDef_ArgDef{{Name: "x", Type: 1}}, OutputArg: []*pb.OpDef_ArgDef{{Name: "z", Type: 1}}},
		NodeDef:   []*pb.NodeDef{{Name: "a", Op: op, Input: []string{"x"}, Attr: typeAttrs("T", 1)}}, Ret: map[string]string{"z": ret},
	}
}

func rawCalls() []rawCall {
	two := eagerGiven(eagerTensor(1))
	square := func(change func(*pb.Operation)) *pb.Operation {
		op := &pb.Operation{Id: 1, Name: "Square", Device: eagerCPU, Attrs: typeAttrs("T", 1)}
		change(op)
		return op
	}
	same := func(*pb.Operation) {}
	function := func(name string) *pb.Operation {
		return &pb.Operation{Id: 9, Name: name, Device: eagerCPU, IsFunction: true}
	}
	send := func(p *pb.TensorProto, device string) *pb.QueueItem {
		return &pb.QueueItem{Item: &pb.QueueItem_SendTensor{SendTensor: &pb.SendTensorOp{OpId: 30, DeviceName: device, Tensors: []*pb.TensorProto{p}}}}
	}
	packed := func(h ...*pb.SendPackedHandleOp_Handle) *pb.QueueItem {
		return &pb.QueueItem{Item: &pb.QueueItem_SendPackedHandle{SendPackedHandle: &pb.SendPackedHandleOp{OpId: 40, DeviceName: eagerCPU, Handles: h}}}
	}
	local := func(p *pb.TensorProto) *pb.SendPackedHandleOp_Handle {
		return &pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_LocalHandle{LocalHandle: &pb.SendPackedHandleOp_LocalTensorHandle{Tensor: p, Device: eagerCPU}}}
	}
	component := func(what string, op *pb.Operation) rawCall {
		return rawCall{what, "RunComponentFunction", &pb.RunComponentFunctionRequest{ContextId: 7, Operation: op}, &pb.RunComponentFunctionResponse{}}
	}
	return []rawCall{
		{"no context: enqueue", "Enqueue", &pb.EnqueueRequest{ContextId: 5}, &pb.EnqueueResponse{}},
		{"no context: keep alive", "KeepAlive", &pb.KeepAliveRequest{ContextId: 5}, &pb.KeepAliveResponse{}},
		{"no context: wait", "WaitQueueDone", &pb.WaitQueueDoneRequest{ContextId: 5}, &pb.WaitQueueDoneResponse{}},
		{"no context: update", "UpdateContext", &pb.UpdateContextRequest{ContextId: 5}, &pb.UpdateContextResponse{}},
		{"no context: close", "CloseContext", &pb.CloseContextRequest{ContextId: 5}, &pb.CloseContextResponse{}},
		{"no context: component", "RunComponentFunction", &pb.RunComponentFunctionRequest{ContextId: 5}, &pb.RunComponentFunctionResponse{}},
		eagerContext("a context", func(*pb.CreateContextRequest) {}),
		eagerContext("a context again", func(r *pb.CreateContextRequest) { r.ContextViewId = 0 }),
		{"update to the same view", "UpdateContext", &pb.UpdateContextRequest{ContextId: 7, ContextViewId: 1}, &pb.UpdateContextResponse{}},
		{"wait for operations", "WaitQueueDone", &pb.WaitQueueDoneRequest{ContextId: 7, OpId: []int64{3}}, &pb.WaitQueueDoneResponse{}},
		{"wait", "WaitQueueDone", &pb.WaitQueueDoneRequest{ContextId: 7}, &pb.WaitQueueDoneResponse{}},
		eagerOp("an operation", square(same), two),
		eagerOp("its result", square(func(op *pb.Operation) { op.Id = 2 }), eagerOn(1, 0, eagerCPU)),
		eagerOp("an output that it has not", square(func(op *pb.Operation) { op.Id = 3 }), eagerOn(1, 1, eagerCPU)),
		eagerOp("a negative output", square(func(op *pb.Operation) { op.Id = 3 }), eagerOn(1, -1, eagerCPU)),
		eagerOp("a handle that is not there", square(func(op *pb.Operation) { op.Id = 3 }), eagerOn(99, 0, eagerCPU)),
		eagerOp("a handle elsewhere", square(func(op *pb.Operation) { op.Id = 3 }), eagerOn(1, 0, "/job:ps/replica:0/task:0/device:CPU:0")),
		eagerOp("a handle nowhere", square(func(op *pb.Operation) { op.Id = 3 }), eagerOn(1, 0, "nonsense")),
		eagerOp("no device", square(func(op *pb.Operation) { op.Id, op.Device = 4, "" }), two),
		eagerOp("a device in short", square(func(op *pb.Operation) { op.Id, op.Device = 5, "CPU:0" }), two),
		eagerOp("a device of no cluster", square(func(op *pb.Operation) { op.Id, op.Device = 6, "/job:ps/replica:0/task:0/device:CPU:0" }), two),
		eagerOp("a device that is none", square(func(op *pb.Operation) { op.Id, op.Device = 6, "nonsense" }), two),
		eagerOp("a kind of device that is not there", square(func(op *pb.Operation) { op.Id, op.Device = 6, "/device:GPU:0" }), two),
		eagerOp("no op", &pb.Operation{Id: 6, Device: eagerCPU}),
		eagerOp("an op that is none", &pb.Operation{Id: 6, Name: "Nonsense", Device: eagerCPU}),
		eagerOp("no inputs", square(func(op *pb.Operation) { op.Id = 6 })),
		eagerOp("too many inputs", square(func(op *pb.Operation) { op.Id = 6 }), two, two),
		eagerOp("an input of another type", square(func(op *pb.Operation) { op.Id = 6 }), eagerGiven(eagerTensor(3))),
		eagerOp("an attribute that is another", square(func(op *pb.Operation) { op.Id, op.Attrs = 6, typeAttrs("U", 1) }), two),
		eagerOp("an attribute of another kind", square(func(op *pb.Operation) {
			op.Id, op.Attrs = 6, map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_I{I: 1}}}
		}), two),
		eagerOp("a type that has no kernel", square(func(op *pb.Operation) { op.Id, op.Attrs = 6, typeAttrs("T", 7) }), eagerGiven(&pb.TensorProto{Dtype: 7, TensorShape: &pb.TensorShapeProto{}, StringVal: [][]byte{nil}})),
		eagerOp("a placeholder for a type", square(func(op *pb.Operation) {
			op.Id, op.Attrs = 6, map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Placeholder{Placeholder: "T"}}}
		}), two),
		eagerOp("a placeholder for a number", &pb.Operation{Id: 6, Name: "Pack", Device: eagerCPU, Attrs: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: 1}}, "N": {Value: &pb.AttrValue_Placeholder{Placeholder: "N"}}}}),
		eagerOp("a shape that is too large", &pb.Operation{Id: 6, Name: "Fill", Device: eagerCPU, Attrs: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: 1}}, "index_type": {Value: &pb.AttrValue_Type{Type: 9}}}},
			eagerGiven(&pb.TensorProto{Dtype: 9, TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 2}}}, Int64Val: []int64{math.MaxInt64, 4}}), two),
		eagerOp("the same number again", square(same), two),
		eagerOp("a tensor with a negative size", square(func(op *pb.Operation) { op.Id = 6 }), eagerGiven(eagerTensor(1, -5))),
		eagerOp("a tensor of no type", square(func(op *pb.Operation) { op.Id = 6 }), eagerGiven(&pb.TensorProto{})),
		eagerQueue("send to a device of no cluster", send(eagerTensor(1), "/job:ps/task:0")),
		eagerQueue("send to a device that is none", send(eagerTensor(1), "nonsense")),
		eagerQueue("send to no device", send(eagerTensor(1), "")),
		eagerQueue("send a tensor of a negative size", send(eagerTensor(1, -1), eagerCPU)),
		eagerQueue("send a tensor of no type", send(&pb.TensorProto{}, eagerCPU)),
		eagerQueue("pack nothing", packed()),
		eagerQueue("pack two types", packed(local(eagerTensor(1)), local(eagerTensor(3)))),
		eagerQueue("pack a bad tensor", packed(local(eagerTensor(1, -1)))),
		eagerQueue("pack what is not there", packed(&pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_RemoteHandle{RemoteHandle: eagerOn(98, 0, eagerCPU).GetRemoteHandle()}})),
		eagerQueue("pack handles without anything", packed(&pb.SendPackedHandleOp_Handle{}, &pb.SendPackedHandleOp_Handle{})),
		eagerQueue("drop what is not there", &pb.QueueItem{Item: &pb.QueueItem_HandleToDecref{HandleToDecref: eagerOn(97, 0, eagerCPU).GetRemoteHandle()}}),
		eagerQueue("remove a function that is not there", &pb.QueueItem{Item: &pb.QueueItem_RemoveFunction{RemoveFunction: &pb.RemoveFunctionOp{FunctionName: "gone"}}}),
		eagerQueue("clean up a step that is not there", &pb.QueueItem{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: -3}}}),
		eagerQueue("synchronize", &pb.QueueItem{Item: &pb.QueueItem_SyncRemoteExecutorForStream{SyncRemoteExecutorForStream: &pb.SyncRemoteExecutorForStream{}}}),
		eagerQueue("a function", eagerFunction(squares("good", "Square", "a:y:0"))),
		eagerQueue("the same function", eagerFunction(squares("good", "Square", "a:y:0"))),
		eagerQueue("another one of its name", eagerFunction(squares("good", "Sqrt", "a:y:0"))),
		eagerQueue("one of an op's name", eagerFunction(squares("Square", "Sqrt", "a:y:0"))),
		eagerOp("call it", function("good"), two),
		eagerOp("call it with nothing", function("good")),
		eagerOp("call it with another type", function("good"), eagerGiven(eagerTensor(3))),
		eagerOp("call one that is not there", function("gone"), two),
		eagerOp("call an op", function("Sqrt"), two),
		eagerQueue("one that calls what is not there", eagerFunction(squares("lost", "gone", "a:y:0"))),
		eagerOp("call that", function("lost"), two),
		eagerQueue("one that returns what is not there", eagerFunction(squares("empty", "Square", "b:y:0"))),
		eagerOp("call that as well", function("empty"), two),
		component("a component that is no function", square(func(op *pb.Operation) { op.Id = 50 })),
		component("a component that is not there", &pb.Operation{Id: 51, Name: "good", Device: eagerCPU, IsFunction: true, IsComponentFunction: true}),
		{"close an earlier view", "CloseContext", &pb.CloseContextRequest{ContextId: 7}, &pb.CloseContextResponse{}},
		{"keep alive after that", "KeepAlive", &pb.KeepAliveRequest{ContextId: 7}, &pb.KeepAliveResponse{}},
		{"close", "CloseContext", &pb.CloseContextRequest{ContextId: 7, ContextViewId: 1}, &pb.CloseContextResponse{}},
		{"keep alive when closed", "KeepAlive", &pb.KeepAliveRequest{ContextId: 7}, &pb.KeepAliveResponse{}},
		eagerContext("negative seconds", func(r *pb.CreateContextRequest) { r.ContextId, r.KeepAliveSecs = 8, -5 }),
		{"keep that alive", "KeepAlive", &pb.KeepAliveRequest{ContextId: 8}, &pb.KeepAliveResponse{}},
	}
}

// unlike are the calls that Gorge answers otherwise, with its codes. None is made by
// TensorFlow's clients.
var unlike = map[string]string{
	"a device in short":             "OK",              // both understand that in graphs
	"an input of another type":      "InvalidArgument", // TensorFlow reads types from inputs, and leaves the attribute aside
	"an attribute that is another":  "InvalidArgument",
	"an attribute of another kind":  "InvalidArgument",
	"a placeholder for a type":      "InvalidArgument",
	"pack two types":                "InvalidArgument",
	"pack handles without anything": "InvalidArgument",
	"drop what is not there":        "OK", // it may be the result of an operation that has failed
	"call it":                       "OK", // TensorFlow does not give functions what comes along
	"call an op":                    "NotFound",
}

// answers makes the calls to a server. It returns the codes of the answers, and beside
// them what they say.
func answers(t *testing.T, address string) (codes, says []string) {
	t.Helper()
	cc, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	for _, c := range rawCalls() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := cc.Invoke(ctx, "/tensorflow.eager.EagerService/"+c.method, c.req, c.resp)
		cancel()
		text, _, _ := strings.Cut(status.Convert(err).Message(), "\n")
		codes = append(codes, c.what+": "+codeOf(err, text))
		says = append(says, c.what+": "+text)
	}
	return codes, says
}

// codeOf returns the code of an error. TensorFlow's servers add details that have another
// one, which gRPC for Go takes for a mistake and tells both.
func codeOf(err error, text string) string {
	if _, after, ok := strings.Cut(text, "grpc-status-details-bin mismatch: grpc-status="); ok {
		code, _, _ := strings.Cut(after, ",")
		return code
	}
	return status.Code(err).String()
}

// TestEagerErrors: calls that no client makes end with the codes that TensorFlow's server
// gives.
func TestEagerErrors(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 2)
	both(
		func() { serve(t, ofGorge, "localhost|"+addr[0], "localhost", 0) },
		func() { serve(t, ofTensorFlow, "localhost|"+addr[1], "localhost", 0) },
	)
	got, ours := answers(t, addr[0])
	want, theirs := answers(t, addr[1])
	for i, c := range rawCalls() {
		if code, ok := unlike[c.what]; ok {
			if want[i] == got[i] {
				t.Errorf("%s: answers are listed as unlike, and are alike", c.what)
			}
			want[i] = c.what + ": " + code
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-TensorFlow +Gorge:\n%s\nthey say:\n%s", d, cmp.Diff(theirs, ours))
	}
}
