package savedmodel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestInputWithoutName: an input that names nothing is an error also where constants are
// looked for.
func TestInputWithoutName(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	bias := ops.Identity(ops.Const(g, []float32{1, 2}), tf.Name("bias"))
	y := ops.Relu(ops.BiasAdd(ops.MatMul(x, ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)), bias))
	dir := savedGraph(t, g, x, y)
	mg := renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetName() == "bias" {
			n.Input = []string{""}
		}
	})
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err == nil {
		m.Close()
		t.Error("a model with an input that names nothing is loaded")
	}
}

// selfCaptured returns a model of TensorFlow 2 with a resource that the function which
// makes it takes as an argument.
func selfCaptured(t *testing.T, dir string) *pb.MetaGraphDef {
	t.Helper()
	mg := renamed(t, dir, func(*pb.NodeDef) {})
	mg.GraphDef.Library = &pb.FunctionDefLibrary{Function: []*pb.FunctionDef{{
		Signature: &pb.OpDef{
			Name: "make", InputArg: []*pb.OpDef_ArgDef{{Name: "h", Type: pb.DataType_DT_RESOURCE}}, OutputArg: []*pb.OpDef_ArgDef{{Name: "out", Type: pb.DataType_DT_RESOURCE}},
		},
		Ret: map[string]string{"out": "h"},
	}}}
	child := func(name string, id int32) []*pb.TrackableObjectGraph_TrackableObject_ObjectReference {
		return []*pb.TrackableObjectGraph_TrackableObject_ObjectReference{{LocalName: name, NodeId: id}}
	}
	mg.ObjectGraphDef = &pb.SavedObjectGraph{
		Nodes: []*pb.SavedObject{
			{Children: child("table", 1)},
			{Children: child("_create_resource", 2), Kind: &pb.SavedObject_Resource{Resource: &pb.SavedResource{}}},
			{Kind: &pb.SavedObject_Function{Function: &pb.SavedFunction{ConcreteFunctions: []string{"make"}}}},
		},
		ConcreteFunctions: map[string]*pb.SavedConcreteFunction{"make": {BoundInputs: []int32{1}}},
	}
	return mg
}

// TestResourceOfItself: a resource that it takes to make it is an error.
func TestResourceOfItself(t *testing.T) {
	dir := saved(t)
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, selfCaptured(t, dir), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 2 {
		if err := m.Function("make").Err(); tf.CodeOf(err) != tf.DataLoss {
			t.Errorf("got %v, want DATA_LOSS", err)
		}
	}
}

// TestZerosBeyondMemory: of an input that is described as larger than memory there are no
// zeros to warm up with.
func TestZerosBeyondMemory(t *testing.T) {
	for _, shape := range []tf.Shape{{1 << 40, 1 << 40}, {-1, 1 << 50}} {
		spec := savedmodel.TensorSpec{DType: tf.Float32, Shape: shape}
		if _, ok := spec.Zeros(); ok {
			t.Errorf("there are zeros of shape %v", shape)
		}
	}
}

// functionsModel returns a model of TensorFlow 2 with objects, each of whose concrete functions
// returns its first argument of type d; bound says what they capture.
func functionsModel(t *testing.T, dir string, d pb.DataType, objects []*pb.SavedObject, bound map[string][]int32) *pb.MetaGraphDef {
	t.Helper()
	mg := renamed(t, dir, func(*pb.NodeDef) {})
	mg.GraphDef.Library = &pb.FunctionDefLibrary{}
	mg.ObjectGraphDef = &pb.SavedObjectGraph{Nodes: objects, ConcreteFunctions: map[string]*pb.SavedConcreteFunction{}}
	for name, captures := range bound {
		f := &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, Ret: map[string]string{"out": "a0"}}
		for i := range max(1, len(captures)) {
			f.Signature.InputArg = append(f.Signature.InputArg, &pb.OpDef_ArgDef{Name: fmt.Sprint("a", i), Type: d})
		}
		f.Signature.OutputArg = []*pb.OpDef_ArgDef{{Name: "out", Type: d}}
		mg.GraphDef.Library.Function = append(mg.GraphDef.Library.Function, f)
		mg.ObjectGraphDef.ConcreteFunctions[name] = &pb.SavedConcreteFunction{BoundInputs: captures}
	}
	return mg
}

// TestFunctionAfterBroken: a function that cannot be called leaves the others as they are.
func TestFunctionAfterBroken(t *testing.T) {
	dir := saved(t)
	variable := &pb.SavedObject{Kind: &pb.SavedObject_Variable{Variable: &pb.SavedVariable{Dtype: 999, Shape: &pb.TensorShapeProto{}}}} // of no known type
	mg := functionsModel(t, dir, pb.DataType_DT_RESOURCE, []*pb.SavedObject{{}, variable}, map[string][]int32{"bad": {1}, "good": nil})
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Function("bad").Err(); err == nil {
		t.Error("a function that captures a variable of an unknown type has no error")
	}
	if err := m.Function("good").Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestResourcesOfResources: resources that take others to make them are made so deep only.
func TestResourcesOfResources(t *testing.T) {
	const depth = 1100
	dir := saved(t)
	objects, bound := []*pb.SavedObject{{}}, map[string][]int32{}
	for i := range int32(depth) {
		name := fmt.Sprint("make", i)
		objects = append(objects,
			&pb.SavedObject{Children: []*pb.TrackableObjectGraph_TrackableObject_ObjectReference{{LocalName: "_create_resource", NodeId: 2*i + 2}}, Kind: &pb.SavedObject_Resource{Resource: &pb.SavedResource{}}},
			&pb.SavedObject{Kind: &pb.SavedObject_Function{Function: &pb.SavedFunction{ConcreteFunctions: []string{name}}}})
		bound[name] = []int32{2*i + 3}
	}
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, functionsModel(t, dir, pb.DataType_DT_RESOURCE, objects, bound), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Function("make0").Err(); tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), "one within the other") {
		t.Errorf("got %v, want DATA_LOSS", err)
	}
}
