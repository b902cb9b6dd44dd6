package savedmodel_test

import (
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
