package eagerservice

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestOperations(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	x := c.send(floats(1, 2))
	sum := c.do("AddV2", core.Attrs{"T": core.Float32}, x, floats(10, 20))
	c.wantFloats(sum, 11, 22)
	c.wantFloats(c.do("Mul", core.Attrs{"T": core.Float32}, sum, sum), 121, 484)

	parts := c.operation("Unpack", core.Attrs{"T": core.Float32, "num": int64(2), "axis": int64(0)}, x)
	resp, err := c.enqueue(item(parts))
	if err != nil {
		t.Fatal(err)
	}
	if r := resp.GetQueueResponse()[0]; len(r.GetShape()) != 2 || len(r.GetDevice()) != 0 || len(r.GetTensor()) != 0 {
		t.Errorf("the answer to an operation is %v", r)
	}
	c.wantFloats(handle{int(c.op), 1}, 2)
}

// TestTypes sends and fetches values of every type that has elements.
func TestTypes(t *testing.T) {
	c := newClient(t, newService(t), 7)
	for _, d := range []core.DType{core.Float32, core.Float64, core.Int8, core.Int64, core.Uint16, core.Bool, core.String, core.Complex64, core.BFloat16, core.Float16} {
		x := core.NewTensor(d, core.Shape{2, 0, 3})
		if got := c.fetch(c.send(x)); got.DType() != d || !got.Shape().Equal(x.Shape()) {
			t.Errorf("%v comes back as %v%v", d, got.DType(), got.Shape())
		}
	}
	words := core.NewTensor(core.String, core.Shape{2})
	copy(core.Data[string](words), []string{"a", "b\x00c"})
	if got := core.Data[string](c.fetch(c.send(words))); got[1] != "b\x00c" {
		t.Errorf("strings come back as %q", got)
	}
}

func TestVariables(t *testing.T) {
	c := newClient(t, newService(t), 7)
	float := core.Attrs{"dtype": core.Float32}
	shared := core.Attrs{"dtype": core.Float32, "shape": core.Shape{2}, "shared_name": "v"}
	h := c.do("VarHandleOp", shared)
	c.fails(core.FailedPrecondition, "Could not find variable v.", "ReadVariableOp", float, h)
	c.do("AssignVariableOp", float, h, floats(1, 2))
	c.do("AssignAddVariableOp", float, c.do("VarHandleOp", shared), floats(1, 1))
	c.wantFloats(c.do("ReadVariableOp", float, h), 2, 3)

	anonymous := core.Attrs{"dtype": core.Float32, "shape": core.Shape{1}, "shared_name": "cd2c89b7-88b7-44c8-ad83-06c2a9158347"}
	a, b := c.do("VarHandleOp", anonymous), c.do("VarHandleOp", anonymous)
	c.do("AssignVariableOp", float, a, floats(1))
	c.do("AssignVariableOp", float, b, floats(2))
	c.wantFloats(c.do("ReadVariableOp", float, a), 1)

	other := c.operation("VarHandleOp", shared)
	other.Device = second
	if _, err := c.enqueue(item(other)); err != nil {
		t.Fatal(err)
	}
	c.fails(core.InvalidArgument, "Trying to access resource v located in device "+second+" from device "+cpu, "ReadVariableOp", float, handle{int(other.GetId()), 0})
}

// TestStatefulKernels: random numbers go on where the last operation has stopped.
func TestStatefulKernels(t *testing.T) {
	c := newClient(t, newService(t), 7)
	shape := core.NewTensor(core.Int32, core.Shape{1})
	core.Data[int32](shape)[0] = 3
	attrs := core.Attrs{"dtype": core.Float32, "T": core.Int32, "seed": int64(1), "seed2": int64(2)}
	first, next := c.fetch(c.do("RandomUniform", attrs, shape)), c.fetch(c.do("RandomUniform", attrs, shape))
	if core.Data[float32](first)[0] == core.Data[float32](next)[0] {
		t.Error("random numbers repeat")
	}
}

func TestDecref(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	x := c.send(floats(1))
	drop := &pb.QueueItem{Item: &pb.QueueItem_HandleToDecref{HandleToDecref: x.proto()}}
	for range 2 { // one that is gone is no error
		if _, err := c.enqueue(drop); err != nil {
			t.Fatal(err)
		}
	}
	if n := contextOf(s, 7).handles.len(); n != 0 {
		t.Errorf("%d values are left", n)
	}
}

func TestBadOperations(t *testing.T) {
	c := newClient(t, newService(t), 7)
	x := c.send(floats(1, 2))
	float := core.Attrs{"T": core.Float32}
	c.fails(core.NotFound, "Op type not registered 'Nope'", "Nope", nil)
	c.fails(core.InvalidArgument, "expected 2 inputs, got 1", "AddV2", float, x)
	c.fails(core.InvalidArgument, "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor", "AddV2", float, x, core.Scalar(int32(1)))
	c.fails(core.InvalidArgument, "must be type, got string", "AddV2", core.Attrs{"T": "text"}, x, x)
	c.fails(core.InvalidArgument, "", "AddV2", nil, x, x)
	c.fails(core.InvalidArgument, "Incompatible shapes: [2] vs. [3]", "AddV2", float, x, floats(1, 2, 3))
	c.fails(core.InvalidArgument, "Op ID: 999, Output num: 0.", "Identity", float, handle{999, 0})
	c.fails(core.InvalidArgument, "Op ID: 1, Output num: -1.", "Identity", float, handle{1, -1})
	c.fails(core.Internal, "the kernel of TestPanic panicked: on purpose", "TestPanic", nil)
	c.fails(core.InvalidArgument, "input 0 of Identity must be a tensor of this task, it is on "+chief, "Identity", float, &pb.RemoteTensorHandle{OpId: 1, Device: chief, Dtype: pb.DataType_DT_FLOAT})
	c.fails(core.InvalidArgument, "/job:none/replica:0/task:0/device:CPU:0 unknown device.", "Identity", float, &pb.RemoteTensorHandle{OpId: 1, Device: "/job:none/replica:0/task:0/device:CPU:0"})
	for _, edit := range []func(*pb.Operation){
		func(o *pb.Operation) { o.Device = "/job:worker/replica:0/task:0/device:GPU:0" },
		func(o *pb.Operation) { o.Device = "no device" },
		func(o *pb.Operation) { o.OpInputs = []*pb.Operation_Input{{}} },
		func(o *pb.Operation) { o.Attrs["T"] = nil },
	} {
		op := c.operation("Identity", float, x)
		edit(op)
		if _, err := c.enqueue(item(op)); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%v: %v", op, err)
		}
	}
	c.wantFloats(x, 1, 2)
}

// TestPoison: users of a failed operation get its error.
func TestPoison(t *testing.T) {
	c := newClient(t, newService(t), 7)
	float := core.Attrs{"T": core.Float32}
	c.fails(core.InvalidArgument, "Incompatible shapes: [2] vs. [3]", "AddV2", float, floats(1, 2), floats(1, 2, 3))
	first := handle{int(c.op), 0}
	c.fails(core.InvalidArgument, "Incompatible shapes: [2] vs. [3]", "Identity", float, first)
	c.fails(core.InvalidArgument, "Incompatible shapes: [2] vs. [3]", "Identity", float, handle{int(c.op), 0})
	for range keptFailures {
		if _, err := c.enqueue(item(c.operation("Nope", nil))); err == nil {
			t.Fatal("an op that there is not has run")
		}
	}
	c.fails(core.InvalidArgument, "Unable to find the relevant tensor remote_handle", "Identity", float, first) // long ago
}

func TestBadItems(t *testing.T) {
	c := newClient(t, newService(t), 7)
	broken := sending(1, cpu, floats(1))
	broken.GetSendTensor().Tensors[0].TensorContent = []byte{1, 2, 3}
	for text, i := range map[string]*pb.QueueItem{
		"an entry of the queue must say what to do":        {},
		"Unable to parse tensor proto":                     broken,
		"unknown device.":                                  sending(1, chief, floats(1)),
		"Handles should not be empty.":                     packing(),
		"Inconsistent dtypes":                              packing(packed(floats(1)), packed(core.Scalar(int32(1)))),
		"a function to register must have a name":          {Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{}}},
		"Tried to remove non-existent function 'f'.":       {Item: &pb.QueueItem_RemoveFunction{RemoveFunction: &pb.RemoveFunctionOp{FunctionName: "f"}}},
		"Unable to find the relevant tensor remote_handle": packing(&pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_RemoteHandle{RemoteHandle: handle{99, 0}.proto()}}),
		"Nested packed handles are not supported":          packing(nested(c)),
	} {
		_, err := c.enqueue(i)
		wantError(t, err, core.InvalidArgument, text)
	}
	defer memory.SetLimit(memory.SetLimit(1 << 28))
	huge := sending(1, cpu, core.Scalar(float32(1)))
	huge.GetSendTensor().Tensors[0] = &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: core.ShapeProto(core.Shape{1 << 28}), FloatVal: []float32{1}}
	_, err := c.enqueue(huge)
	wantError(t, err, core.ResourceExhausted, "Unable to parse tensor proto: OOM when allocating")
	op := c.operation("Identity", core.Attrs{"T": core.Float32}, floats(1))
	op.OpInputs[0].Item = &pb.Operation_Input_Tensor{Tensor: huge.GetSendTensor().GetTensors()[0]}
	_, err = c.enqueue(item(op))
	wantError(t, err, core.ResourceExhausted, "Invalid TensorProto: OOM when allocating")
}

func packing(all ...*pb.SendPackedHandleOp_Handle) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_SendPackedHandle{SendPackedHandle: &pb.SendPackedHandleOp{OpId: 500, Handles: all}}}
}

func packed(x *core.Tensor) *pb.SendPackedHandleOp_Handle {
	return &pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_LocalHandle{LocalHandle: &pb.SendPackedHandleOp_LocalTensorHandle{Tensor: core.TensorProto(x), Device: cpu}}}
}

// nested is a handle of a packed value.
func nested(c *client) *pb.SendPackedHandleOp_Handle {
	i := packing(packed(floats(1)), packed(floats(2)))
	i.GetSendPackedHandle().OpId = 501
	if _, err := c.enqueue(i); err != nil {
		c.t.Fatal(err)
	}
	c.fails(core.InvalidArgument, "input 0 of Identity is packed, which only functions take", "Identity", core.Attrs{"T": core.Float32}, handle{501, 0})
	return &pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_RemoteHandle{RemoteHandle: handle{501, 0}.proto()}}
}

// TestStreams: an operation without outputs answers before it is known whether it
// fails; the next operation hears of it, and the stream is over.
func TestStreams(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	bad := func() *pb.EnqueueRequest {
		cond := core.NewTensor(core.Bool, core.Shape{})
		return &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{item(c.operation("Assert", core.Attrs{"T": []core.DType{core.Float32}, "summarize": int64(3)}, cond, floats(1)))}}
	}
	sync := &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_SyncRemoteExecutorForStream{SyncRemoteExecutorForStream: &pb.SyncRemoteExecutorForStream{}}}}}
	op := &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{item(c.operation("Identity", core.Attrs{"T": core.Float32}, floats(1)))}}
	for _, next := range []*pb.EnqueueRequest{sync, op} {
		st := s.NewStream()
		if _, err := st.Enqueue(t.Context(), bad()); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Enqueue(t.Context(), &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{sending(800, cpu, floats(1))}}); err != nil {
			t.Fatal(err) // not an operation
		}
		_, err := st.Enqueue(t.Context(), next)
		wantError(t, err, core.InvalidArgument, "assertion failed: [1]"+cancelled)
	}
	if _, err := s.NewStream().Enqueue(t.Context(), sync); err != nil {
		t.Errorf("a new stream: %v", err)
	}
	_, err := s.Enqueue(t.Context(), bad())
	wantError(t, err, core.InvalidArgument, "assertion failed: [1]")
	if strings.Contains(err.Error(), cancelled) {
		t.Errorf("a single request ends with %v", err)
	}
}

// TestTransfers: what an operation sends on the context's step arrives there.
func TestTransfers(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	d := contextOf(s, 7).session.Devices().List()[0]
	attrs := core.Attrs{"tensor_name": "x", "send_device": cpu, "send_device_incarnation": int64(d.Incarnation()), "recv_device": second, "client_terminated": false}
	with := func(k string) core.Attrs {
		out := core.Attrs{k: core.Float32}
		for k, v := range attrs {
			out[k] = v
		}
		return out
	}
	c.do("_Send", with("T"), floats(3))
	c.wantFloats(c.do("_Recv", with("tensor_type")), 3)
	if n := len(contextOf(s, 7).kernels.all); n != 1 { // that of fetch
		t.Errorf("%d kernels are kept", n)
	}
}

// FuzzEnqueue: whatever comes is answered.
func FuzzEnqueue(f *testing.F) {
	s := newService(f)
	c := newClient(f, s, 7)
	x := c.send(floats(1, 2))
	for _, i := range []*pb.QueueItem{
		item(c.operation("AddV2", core.Attrs{"T": core.Float32}, x, floats(1))), sending(3, cpu, floats(1)), packing(packed(floats(1))),
		{Item: &pb.QueueItem_HandleToDecref{HandleToDecref: x.proto()}},
		{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{FunctionDef: double(f), IsComponentFunction: true}}},
		{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: 7}}},
	} {
		b, err := proto.Marshal(&pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{i}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		req := &pb.EnqueueRequest{}
		if proto.Unmarshal(b, req) != nil {
			return
		}
		req.ContextId = 7
		for _, i := range req.GetQueue() {
			switch i.GetOperation().GetName() {
			case "TestWait", "_Recv", "_HostRecv": // which wait
				return
			}
		}
		_, _ = s.Enqueue(t.Context(), req)
	})
}
