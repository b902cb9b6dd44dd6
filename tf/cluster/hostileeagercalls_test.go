package cluster_test

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// eagerCPUs are the devices of the two tasks.
var eagerCPUs = []string{workerCPU, "/job:worker/replica:0/task:1/device:CPU:0"}

// An eagerCall is one that an attacker makes.
type eagerCall struct {
	path   string
	reqs   []proto.Message // several for a stream
	intact bool            // not to be spoiled: it holds addresses, which others may have
}

// eagerAttacks make the next call of each kind.
var eagerAttacks = []func(a *eagerAttacker) eagerCall{
	func(a *eagerAttacker) eagerCall {
		req := &pb.CreateContextRequest{
			ContextId: a.context(), ContextViewId: uint64(a.r.IntN(8) / 6), KeepAliveSecs: a.seconds(), Async: a.r.IntN(2) == 0,
			ClearExistingContexts: a.r.IntN(20) == 0, LazyCopyRemoteFunctionInputs: a.r.IntN(2) == 0,
		}
		req.ServerDef, req.ClusterDeviceAttributes = a.cluster()
		return eagerCall{eagerPath + "CreateContext", []proto.Message{req}, req.GetServerDef().GetCluster() != nil}
	},
	func(a *eagerAttacker) eagerCall {
		req := &pb.UpdateContextRequest{ContextId: a.context(), ContextViewId: uint64(a.r.IntN(4))}
		req.ServerDef, req.ClusterDeviceAttributes = a.cluster()
		return eagerCall{eagerPath + "UpdateContext", []proto.Message{req}, req.GetServerDef().GetCluster() != nil}
	},
	(*eagerAttacker).enqueue, (*eagerAttacker).enqueue, (*eagerAttacker).enqueue, (*eagerAttacker).enqueue, (*eagerAttacker).enqueue, (*eagerAttacker).enqueue,
	(*eagerAttacker).streaming, (*eagerAttacker).streaming,
	func(a *eagerAttacker) eagerCall {
		req := &pb.RunComponentFunctionRequest{ContextId: a.context(), Operation: a.call()}
		req.Operation.IsComponentFunction = a.r.IntN(8) > 0
		for range a.r.IntN(3) {
			req.OutputNum = append(req.OutputNum, int32(a.number()))
		}
		return eagerCall{path: eagerPath + "RunComponentFunction", reqs: []proto.Message{req}}
	},
	func(a *eagerAttacker) eagerCall {
		req := &pb.WaitQueueDoneRequest{ContextId: a.context()}
		if a.r.IntN(3) == 0 {
			req.OpId = []int64{a.number()}
		}
		return eagerCall{path: eagerPath + "WaitQueueDone", reqs: []proto.Message{req}}
	},
	func(a *eagerAttacker) eagerCall {
		return eagerCall{path: eagerPath + "KeepAlive", reqs: []proto.Message{&pb.KeepAliveRequest{ContextId: a.context()}}}
	},
	func(a *eagerAttacker) eagerCall {
		id := a.context()
		if a.r.IntN(8) > 0 {
			id = 99 // seldom one that is there: it ends what others do
		}
		return eagerCall{path: eagerPath + "CloseContext", reqs: []proto.Message{&pb.CloseContextRequest{ContextId: id, ContextViewId: uint64(a.r.IntN(3))}}}
	},
}

func (a *eagerAttacker) enqueue() eagerCall {
	return eagerCall{path: eagerPath + "Enqueue", reqs: []proto.Message{a.items()}}
}

func (a *eagerAttacker) streaming() eagerCall {
	c := eagerCall{path: eagerPath + "StreamingEnqueue"}
	for range 1 + a.r.IntN(4) {
		c.reqs = append(c.reqs, a.items())
	}
	return c
}

func (a *eagerAttacker) items() *pb.EnqueueRequest {
	req := &pb.EnqueueRequest{ContextId: a.context()}
	for range a.r.IntN(5) {
		req.Queue = append(req.Queue, a.item())
	}
	return req
}

// one returns any of some values.
func one[T any](a *eagerAttacker, of ...T) T { return of[a.r.IntN(len(of))] }

// context is the number of a context that attackers share, or of none.
func (a *eagerAttacker) context() uint64 {
	if a.r.IntN(12) == 0 {
		return one[uint64](a, 0, 99, math.MaxUint64, math.MaxInt64+1, a.r.Uint64())
	}
	return 1 + a.r.Uint64N(3)
}

func (a *eagerAttacker) seconds() int64 {
	return one[int64](a, 0, 0, 0, 1, -1, 600, math.MinInt64, math.MaxInt64, 18446744074)
}

// cluster is one in which the server is one of the tasks, or nearly.
func (a *eagerAttacker) cluster() (*pb.ServerDef, []*pb.DeviceAttributes) {
	def := a.serverDef(a.at)
	def.DefaultSessionConfig = &pb.ConfigProto{OperationTimeoutInMs: one[int64](a, 0, 0, 1, -1, math.MaxInt64), IsolateSessionState: a.r.IntN(3) == 0}
	devices := a.devices
	switch a.r.IntN(16) {
	case 0:
		def.TaskIndex = int32(one(a, 1-a.at, -1, 7, math.MaxInt32))
	case 1:
		def.JobName = one(a, "", "ps", "ä;/:", "worker/task:1")
	case 2:
		def.Cluster = nil
	case 3:
		def = nil
	case 4:
		def.Cluster.Job = append(def.Cluster.Job, def.Cluster.Job[0], &pb.JobDef{Name: "ps"})
	case 5:
		def.Cluster.Job[0].Tasks = map[int32]string{-1: "", 0: "nonsense"}
	case 6:
		devices = nil
	case 7:
		devices = append(devices[:2:2], attributesOf("", "nonsense", "/job:worker/task:0/device:CPU:0", "/job:worker/replica:0/task:7/device:GPU:0", eagerCPUs[0])...)
	}
	return def, devices
}

func (e *eagerTarget) serverDef(task int) *pb.ServerDef {
	job := &pb.JobDef{Name: "worker", Tasks: map[int32]string{}}
	for i, address := range e.spec["worker"] {
		job.Tasks[int32(i)] = address
	}
	return &pb.ServerDef{JobName: "worker", TaskIndex: int32(task), Cluster: &pb.ClusterDef{Job: []*pb.JobDef{job}}}
}

func attributesOf(names ...string) (all []*pb.DeviceAttributes) {
	for _, name := range names {
		all = append(all, &pb.DeviceAttributes{Name: name, DeviceType: "CPU"})
	}
	return all
}

func opItem(op *pb.Operation) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_Operation{Operation: op}}
}

func dropping(h *pb.RemoteTensorHandle) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_HandleToDecref{HandleToDecref: h}}
}

func ofHandle(h *pb.RemoteTensorHandle) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_RemoteHandle{RemoteHandle: h}}
}

func scalar(v float32) *pb.TensorProto {
	return &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: &pb.TensorShapeProto{}, FloatVal: []float32{v}}
}

// eagerHandle is one of a float of the first task.
func eagerHandle(op int64, output int32) *pb.RemoteTensorHandle {
	return &pb.RemoteTensorHandle{OpId: op, OutputNum: output, Device: eagerCPUs[0], OpDevice: eagerCPUs[0], Dtype: pb.DataType_DT_FLOAT}
}

// item is an entry of a queue.
func (a *eagerAttacker) item() *pb.QueueItem {
	switch a.r.IntN(14) {
	case 0:
		return dropping(a.handle())
	case 1, 2:
		return &pb.QueueItem{Item: &pb.QueueItem_SendTensor{SendTensor: &pb.SendTensorOp{OpId: a.op(), DeviceName: a.device(), Tensors: []*pb.TensorProto{a.anyTensor(), a.anyTensor()}[:a.r.IntN(3)]}}}
	case 3:
		return &pb.QueueItem{Item: &pb.QueueItem_SendPackedHandle{SendPackedHandle: a.packed()}}
	case 4, 5:
		op := &pb.RegisterFunctionOp{FunctionDef: a.function(), IsComponentFunction: a.r.IntN(2) == 0}
		if a.r.IntN(2) == 0 {
			op.Library = &pb.FunctionDefLibrary{Function: []*pb.FunctionDef{a.function(), a.function()}, Gradient: []*pb.GradientDef{{FunctionName: a.functionName(), GradientFunc: a.functionName()}}}
		}
		return &pb.QueueItem{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: op}}
	case 6:
		return &pb.QueueItem{Item: &pb.QueueItem_RemoveFunction{RemoveFunction: &pb.RemoveFunctionOp{FunctionName: a.functionName()}}}
	case 7:
		return &pb.QueueItem{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: a.eagerStep()}}}
	case 8:
		return one(a, &pb.QueueItem{}, &pb.QueueItem{Item: &pb.QueueItem_SyncRemoteExecutorForStream{SyncRemoteExecutorForStream: &pb.SyncRemoteExecutorForStream{}}})
	case 9, 10:
		return opItem(a.call())
	}
	return opItem(a.operation())
}

// eagerStep is the number of a step, which may be that of a context's operations.
func (a *eagerAttacker) eagerStep() int64 { return one(a, a.step(), 1, 2, 3) }

// op is the number of an operation that others have used, or nearly.
func (a *eagerAttacker) op() int64 {
	if a.r.IntN(10) == 0 {
		return a.number()
	}
	return int64(a.r.IntN(8))
}

func (a *eagerAttacker) device() string {
	if a.r.IntN(10) > 0 {
		return eagerCPUs[a.at]
	}
	return one(a, "", "CPU:0", eagerCPUs[1-a.at], "/job:worker/task:0/device:CPU:0", "/device:GPU:0", "nonsense", "///", "/job:ps/replica:0/task:0/device:CPU:0")
}

func (a *eagerAttacker) handle() *pb.RemoteTensorHandle {
	h := &pb.RemoteTensorHandle{OpId: a.op(), Device: a.device(), OpDevice: a.device(), Dtype: pb.DataType(one(a, 1, 1, 1, 3, 20, a.r.IntN(200)))}
	if a.r.IntN(4) == 0 {
		h.OutputNum = int32(one(a, 1, 2, -1, math.MaxInt32, math.MinInt32))
	}
	return h
}

// anyTensor is a tensor of any type, whose shape and content may be of any other.
func (a *eagerAttacker) anyTensor() *pb.TensorProto {
	p := a.tensor()
	switch a.r.IntN(8) {
	case 0:
		p.Dtype = pb.DataType(one(a, 0, 101, -1, 1000, 20, 21, 7, 9, 3))
	case 1:
		p.TensorShape = &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: one[int64](a, 1<<10, 1<<20, 1<<24, 1<<33, 1<<40)}}}
	case 2:
		p.TensorContent = make([]byte, a.r.IntN(20))
	case 3:
		return &pb.TensorProto{Dtype: pb.DataType_DT_RESOURCE, TensorShape: &pb.TensorShapeProto{}, ResourceHandleVal: []*pb.ResourceHandleProto{{Device: a.device(), Container: one(a, "", "localhost"), Name: one(a, "v", "q"), HashCode: a.r.Uint64()}}}
	case 4:
		return &pb.TensorProto{Dtype: pb.DataType_DT_INT32, TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 2}}}, IntVal: []int32{int32(a.number()), int32(a.r.IntN(3))}}
	}
	return p
}

func (a *eagerAttacker) packed() *pb.SendPackedHandleOp {
	op := &pb.SendPackedHandleOp{OpId: a.op(), DeviceName: a.device()}
	for range a.r.IntN(4) {
		h := &pb.SendPackedHandleOp_Handle{}
		switch a.r.IntN(5) {
		case 0:
			h.Item = &pb.SendPackedHandleOp_Handle_LocalHandle{LocalHandle: &pb.SendPackedHandleOp_LocalTensorHandle{Tensor: a.anyTensor(), Device: a.device()}}
		case 1, 2, 3:
			h.Item = &pb.SendPackedHandleOp_Handle_RemoteHandle{RemoteHandle: a.handle()}
		}
		op.Handles = append(op.Handles, h)
	}
	return op
}

func (a *eagerAttacker) input() *pb.Operation_Input {
	if a.r.IntN(2) == 0 {
		return &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: scalar(3)}}
	}
	switch a.r.IntN(12) {
	case 0:
		return &pb.Operation_Input{}
	case 1, 2, 3, 4, 5:
		return ofHandle(a.handle())
	}
	return &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: a.anyTensor()}}
}

// stateful are ops with state, or which do not run by themselves.
var stateful = []string{
	"VarHandleOp", "ReadVariableOp", "AssignVariableOp", "DestroyResourceOp", "TestEndless", "FIFOQueueV2", "QueueDequeueV2", "QueueEnqueueV2", "QueueCloseV2", "QueueDequeueManyV2",
	"_Recv", "_Send", "_HostRecv", "_Arg", "_Retval", "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "Placeholder", "VariableV2", "RandomUniform",
	"PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf", "Case", "RemoteCall", "SymbolicGradient", "For", "MapDefun", "MutableHashTableV2", "LookupTableFindV2",
	"StackV2", "StackPopV2", "TensorArrayV3", "TensorArrayReadV3", "Barrier", "Stage", "Unstage", "CollectiveReduceV2", "ConditionalAccumulator", "AccumulatorTakeGradient", "MapDataset", "AnonymousIteratorV2", "", "nonsense",
}

// operation is one of any op, with what it takes, or nearly.
func (a *eagerAttacker) operation() *pb.Operation {
	op := &pb.Operation{Id: a.op(), Device: a.device(), Attrs: map[string]*pb.AttrValue{}, FuncStepId: a.eagerStep()}
	switch a.r.IntN(4) {
	case 0:
		op.Name = one(a, stateful...)
	case 1:
		op.Name = one(a, "AddV2", "Square", "Identity", "Split", "Pack", "Fill", "MatMul")
	default:
		op.Name = one(a, a.ops...)
	}
	if a.r.IntN(20) == 0 {
		op.ControlOpIds = []int64{a.op(), a.number()}
	}
	d := core.Lookup(op.Name)
	if d == nil {
		return op
	}
	for i := range d.AttrDefs {
		if at := &d.AttrDefs[i]; a.r.IntN(12) > 0 && (at.Default == nil || a.r.IntN(4) == 0) {
			op.Attrs[at.Name] = a.attr(at)
		}
	}
	for range max(0, len(d.Inputs)+one(a, 0, 0, 0, 0, 0, 0, 1, -1)) {
		op.OpInputs = append(op.OpInputs, a.input())
	}
	return op
}

// attr is an attribute of the right kind, if not of the right type or number.
func (a *eagerAttacker) attr(d *core.AttrDef) *pb.AttrValue {
	kind := d.Kind
	if a.r.IntN(16) == 0 {
		kind = one(a, "string", "int", "float", "bool", "type", "shape", "tensor", "func", "")
	}
	if d.List != (a.r.IntN(20) == 0) {
		return &pb.AttrValue{Value: &pb.AttrValue_List{List: a.listAttr(kind)}}
	}
	switch kind {
	case "string":
		return attr(one(a, append(d.Strings, "", "v", "localhost", "\xff\x00")...))
	case "int":
		return attr(uint64(one(a, 0, 1, 2, 2, 3, a.number())))
	case "float":
		return &pb.AttrValue{Value: &pb.AttrValue_F{F: float32(one(a, 0, 1, -1, math.Inf(1), math.NaN()))}}
	case "bool":
		return attr(a.r.IntN(2) == 0)
	case "type":
		return attr(tf.DType(one(a, 1, 1, 1, 1, 1, 3, 7, a.r.IntN(256))))
	case "shape":
		return &pb.AttrValue{Value: &pb.AttrValue_Shape{Shape: a.anyTensor().GetTensorShape()}}
	case "tensor":
		return &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: a.anyTensor()}}
	case "func":
		return &pb.AttrValue{Value: &pb.AttrValue_Func{Func: &pb.NameAttrList{Name: a.functionName(), Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32), "f": {Value: &pb.AttrValue_Func{Func: &pb.NameAttrList{Name: a.functionName()}}}}}}}
	}
	return &pb.AttrValue{Value: &pb.AttrValue_Placeholder{Placeholder: "T"}}
}

func (a *eagerAttacker) listAttr(kind string) *pb.AttrValue_ListValue {
	l := &pb.AttrValue_ListValue{}
	for range a.r.IntN(3) {
		one := a.attr(&core.AttrDef{Kind: kind})
		l.S, l.I, l.F, l.B = append(l.S, one.GetS()), append(l.I, one.GetI()), append(l.F, one.GetF()), append(l.B, one.GetB())
		if kind == "type" {
			l.Type = append(l.Type, one.GetType())
		}
		if s := one.GetShape(); s != nil {
			l.Shape = append(l.Shape, s)
		}
		if f := one.GetFunc(); f != nil {
			l.Func = append(l.Func, f)
		}
		if t := one.GetTensor(); t != nil {
			l.Tensor = append(l.Tensor, t)
		}
	}
	switch kind { // a list is of one kind
	case "string":
		l.I, l.F, l.B = nil, nil, nil
	case "int":
		l.S, l.F, l.B = nil, nil, nil
	case "float":
		l.S, l.I, l.B = nil, nil, nil
	case "bool":
		l.S, l.I, l.F = nil, nil, nil
	default:
		l.S, l.I, l.F, l.B = nil, nil, nil, nil
	}
	return l
}

func (a *eagerAttacker) functionName() string {
	return fmt.Sprint("f", a.r.IntN(8)) // the last ones are never there
}

// call is one of a function, or of an op that is none.
func (a *eagerAttacker) call() *pb.Operation {
	op := &pb.Operation{Id: one(a, a.op(), -1), Name: a.functionName(), Device: a.device(), IsFunction: a.r.IntN(12) > 0, FuncStepId: a.eagerStep()}
	if a.r.IntN(20) == 0 {
		op.Name = one(a, "Square", "NoOp", "_Arg", "", "nonsense")
	}
	for range one(a, 1, 1, 1, 1, 1, 0, 2) {
		op.OpInputs = append(op.OpInputs, a.input())
	}
	return op
}

// function is one that squares its argument here or elsewhere, or nearly.
func (a *eagerAttacker) function() *pb.FunctionDef {
	float32s := map[string]*pb.AttrValue{"T": attr(tf.Float32)}
	f := float(&pb.FunctionDef{Signature: &pb.OpDef{Name: fmt.Sprint("f", a.r.IntN(6))}, NodeDef: []*pb.NodeDef{
		{Name: "a", Op: "Square", Input: []string{"x"}, Device: one(a, "", "", a.device(), eagerCPUs[1-a.at]), Attr: float32s},
		{Name: "b", Op: "Identity", Input: []string{"a:y:0"}, Device: one(a, "", "", a.device()), Attr: float32s},
	}, Ret: map[string]string{"z": "b:output:0"}}, []string{"x"}, "z")
	for range max(0, a.r.IntN(5)-2) {
		a.twist(f)
	}
	return f
}

// twist changes something of a function.
func (a *eagerAttacker) twist(f *pb.FunctionDef) {
	name := func() string {
		return one(a, "x", "a:y:0", "b:output:0", "b:z:0", "a", "a:y:7", "gone:y:0", "", "^a", "^b", "c:y:0", "c:output:0")
	}
	n := one(a, f.NodeDef...)
	switch a.r.IntN(12) {
	case 0:
		n.Op, n.Attr = a.functionName(), nil // which may be itself
	case 1:
		n.Input = append(n.Input, name())
	case 2:
		n.Input = []string{name()}
	case 3:
		f.Ret["z"] = name()
	case 4:
		f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: one(a, "c", "a", "x", "z", ""), Op: one(a, "_Arg", "_Retval"), Input: []string{name()}[:a.r.IntN(2)], Device: a.device(), Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32), "index": attr(uint64(one(a, 0, 1, 100, a.number())))}})
	case 5:
		op := a.operation()
		f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: "c", Op: op.GetName(), Input: []string{name(), name()}[:a.r.IntN(3)], Device: a.device(), Attr: op.GetAttrs()})
		f.ControlRet = map[string]string{"c": one(a, "c", "gone")}
		f.Signature.ControlOutput = []string{"c"}
		f.Signature.IsStateful = true
	case 6:
		f.Signature.InputArg[0].Type = pb.DataType(a.r.IntN(24))
	case 7:
		f.Signature.OutputArg[0].Type = pb.DataType(a.r.IntN(24))
	case 8:
		f.Signature.InputArg[0].NumberAttr, f.Signature.Attr = "N", []*pb.OpDef_AttrDef{{Name: "N", Type: "int"}}
	case 9:
		f.Signature.InputArg = append(f.Signature.InputArg, &pb.OpDef_ArgDef{Name: one(a, "x", "y", ""), Type: pb.DataType(one(a, 1, 20))})
	case 10:
		f.Attr = map[string]*pb.AttrValue{"_noinline": attr(true), "_XlaMustCompile": attr(true), "_implements": attr("")}
	case 11:
		f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: "c", Op: one(a, "PartitionedCall", "StatefulPartitionedCall"), Input: []string{name()}, Attr: map[string]*pb.AttrValue{
			"f": {Value: &pb.AttrValue_Func{Func: &pb.NameAttrList{Name: a.functionName()}}}, "Tin": {Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{Type: []pb.DataType{1}}}},
			"Tout": {Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{Type: []pb.DataType{1}}}}}})
		f.Ret["z"] = "c:output:0"
	}
}
