package eagerservice

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// define returns the definition of a function of one vector, and those that it
// calls.
func define(t testing.TB, name string, body func(x tf.Output) tf.Output) (*pb.FunctionDef, *pb.FunctionDefLibrary) {
	t.Helper()
	g := tf.NewGraph()
	f := tf.NewFunction(g, name, []tf.ArgSpec{{DType: core.Float32, Shape: core.Shape{-1}}}, func(args []tf.Output) []tf.Output { return []tf.Output{body(args[0])} })
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	f.Call([]tf.Output{ops.Const(g, []float32{1}, 1)}) // which puts it into the library
	library, _ := g.Library()
	return library.Find(f.Name()), library.Proto()
}

// double is the definition of a function that adds a vector to itself.
func double(t testing.TB) *pb.FunctionDef {
	f, _ := define(t, "double", func(x tf.Output) tf.Output { return x.Add(x) })
	return f
}

func registering(f *pb.FunctionDef, with *pb.FunctionDefLibrary, component bool) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{FunctionDef: f, Library: with, IsComponentFunction: component}}}
}

// callOf describes the call of a function.
func (c *client) callOf(f *pb.FunctionDef, in ...any) *pb.Operation {
	op := c.operation(f.GetSignature().GetName(), nil, in...)
	op.IsFunction = true
	return op
}

func TestFunctions(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	f, with := define(t, "outer", func(x tf.Output) tf.Output {
		return tf.Cond(ops.Greater(x.Sum(), ops.Scalar(x.Graph(), float32(0))),
			func() []tf.Output { return []tf.Output{x.Add(x)} }, func() []tf.Output { return []tf.Output{x.Neg()} })[0]
	})
	for range 2 { // the same again is no error
		if _, err := c.enqueue(registering(f, with, false)); err != nil {
			t.Fatal(err)
		}
	}
	x := c.send(floats(1, 2))
	call := c.callOf(f, x)
	resp, err := c.enqueue(item(call))
	if err != nil {
		t.Fatal(err)
	}
	if r := resp.GetQueueResponse()[0]; len(r.GetShape()) != 1 || len(r.GetDevice()) != 1 || r.GetDevice()[0] != cpu {
		t.Errorf("the answer to a call is %v", r)
	}
	c.wantFloats(handle{int(call.GetId()), 0}, 2, 4)
	c.do("PartitionedCall", core.Attrs{"Tin": []core.DType{core.Float32}, "Tout": []core.DType{core.Float32}, "f": core.Func{Name: f.GetSignature().GetName()}}, floats(-3))
	c.wantFloats(handle{int(c.op), 0}, 3)

	remove := &pb.QueueItem{Item: &pb.QueueItem_RemoveFunction{RemoveFunction: &pb.RemoveFunctionOp{FunctionName: f.GetSignature().GetName()}}}
	if _, err := c.enqueue(remove); err != nil {
		t.Fatal(err)
	}
	_, err = c.enqueue(item(c.callOf(f, x)))
	wantError(t, err, core.NotFound, f.GetSignature().GetName())
}

func TestBadCalls(t *testing.T) {
	c := newClient(t, newService(t), 7)
	f, with := define(t, "shaped", func(x tf.Output) tf.Output { return ops.Reshape(x, ops.Const(x.Graph(), []int32{2, 2}, 2)) })
	if _, err := c.enqueue(registering(f, with, false)); err != nil {
		t.Fatal(err)
	}
	name := f.GetSignature().GetName()
	for text, in := range map[string][]any{
		"{{function_node " + name + "}} ":                  {floats(1, 2, 3)},
		"Expects 1 arguments, but 0 is provided":           {},
		"Expects arg[0] to be float but int32 is provided": {core.Scalar(int32(1))},
	} {
		_, err := c.enqueue(item(c.callOf(f, in...)))
		wantError(t, err, core.InvalidArgument, text)
	}
	other := double(t)
	other.Signature.Name = name
	_, err := c.enqueue(registering(other, nil, false))
	wantError(t, err, core.InvalidArgument, "because a different function with the same name already exists.")
}

// TestComponents runs a part of a function that receives what another part of the
// step sends.
func TestComponents(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	f := double(t)
	if _, err := c.enqueue(registering(f, nil, true)); err != nil {
		t.Fatal(err)
	}
	run := func(op *pb.Operation, nums ...int32) (*pb.RunComponentFunctionResponse, error) {
		op.IsComponentFunction, op.FuncStepId = true, 44
		return s.RunComponentFunction(t.Context(), &pb.RunComponentFunctionRequest{ContextId: 7, Operation: op, OutputNum: nums})
	}
	op := c.callOf(f, floats(1, 2))
	op.Id = notKept
	resp, err := run(op)
	if err != nil || len(resp.GetTensor()) != 1 || len(resp.GetShape()) != 0 {
		t.Fatalf("%v, %v", resp, err)
	}
	op = c.callOf(f, floats(3))
	if resp, err = run(op, 5); err != nil || len(resp.GetShape()) != 1 {
		t.Fatalf("%v, %v", resp, err)
	}
	c.wantFloats(handle{int(op.GetId()), 5}, 6)
	_, err = run(c.callOf(f, floats(3)), 5, 6)
	wantError(t, err, core.InvalidArgument, "a component must have a number for each output")

	unknown := c.callOf(f, floats(1))
	unknown.Name = "unknown"
	_, err = run(unknown)
	wantError(t, err, core.Internal, "Could not find function library for registered component function: unknown")
	plain := c.operation("NoOp", nil)
	_, err = run(plain)
	wantError(t, err, core.Internal, "RunComponentFunction request can only be used to execute component functions.")
	if _, err := c.enqueue(&pb.QueueItem{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: 44}}}); err != nil {
		t.Error(err)
	}
}

// TestPortable: kernels that a client means for its own kind are known by the ops
// that they compute.
func TestPortable(t *testing.T) {
	f := &pb.FunctionDef{NodeDef: []*pb.NodeDef{
		{Op: "_MklMatMul", Attr: map[string]*pb.AttrValue{"_kernel": {}, "transpose_a": {}, "_other": {}}},
		{Op: "_MklNativeConv2D", Attr: map[string]*pb.AttrValue{"is_filter_const": {}, "strides": {}}},
		{Op: "_MklNativeFusedMatMul"}, {Op: "AddV2"}, {Op: "_MklUnheardOf"},
	}}
	got := portable(f)
	for i, want := range []string{"MatMul", "Conv2D", "_FusedMatMul", "AddV2", "_MklUnheardOf"} {
		if got.GetNodeDef()[i].GetOp() != want {
			t.Errorf("node %d is %s, want %s", i, got.GetNodeDef()[i].GetOp(), want)
		}
	}
	if a := got.GetNodeDef()[0].GetAttr(); len(a) != 2 || a["_kernel"] != nil {
		t.Errorf("attributes %v", a)
	}
	if f.GetNodeDef()[0].GetOp() != "_MklMatMul" {
		t.Error("what came has been changed")
	}
}

// TestEffectsOfFunctions: an operation with effects runs if a function lists it among
// its control outputs. If not, a call treats it as a session treats what nothing
// fetches (TensorFlow's functions of several devices).
func TestEffectsOfFunctions(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	handle := core.Attrs{"dtype": core.Float32, "shape": core.Shape{1}, "shared_name": "v"}
	v := c.do("VarHandleOp", handle)
	c.do("AssignVariableOp", core.Attrs{"dtype": core.Float32}, v, floats(0))
	listed, with := define(t, "counts", func(x tf.Output) tf.Output {
		h := tf.Apply(x.Graph(), "VarHandleOp", nil, tf.Attr("dtype", tf.Float32), tf.Attr("shape", tf.Shape{1}), tf.Attr("shared_name", "v"))
		tf.Apply(nil, "AssignAddVariableOp", []tf.Output{h.Output(0), x})
		return x.Neg()
	})
	unlisted := proto.CloneOf(listed)
	unlisted.Signature.Name, unlisted.Signature.ControlOutput, unlisted.ControlRet = "unlisted", nil, nil
	for _, f := range []*pb.FunctionDef{unlisted, listed} {
		if _, err := c.enqueue(registering(f, with, false), item(c.callOf(f, c.send(floats(1))))); err != nil {
			t.Fatal(err)
		}
		want := float32(len(f.GetControlRet()))
		c.wantFloats(c.do("ReadVariableOp", core.Attrs{"dtype": core.Float32}, v), want)
	}
	// A part of a function does not list what it sends: all of it runs.
	part := proto.CloneOf(unlisted)
	part.Signature.Name = "part"
	if _, err := c.enqueue(registering(part, with, true)); err != nil {
		t.Fatal(err)
	}
	op := c.callOf(part, floats(1))
	op.Id, op.IsComponentFunction, op.FuncStepId = notKept, true, 44
	if _, err := s.RunComponentFunction(t.Context(), &pb.RunComponentFunctionRequest{ContextId: 7, Operation: op}); err != nil {
		t.Fatal(err)
	}
	c.wantFloats(c.do("ReadVariableOp", core.Attrs{"dtype": core.Float32}, v), 2)
}
