package savedmodel_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// smallStack bounds the stacks of goroutines: what recurses as deep as a file says ends the
// process, which nothing can recover.
func smallStack(t *testing.T) {
	before := debug.SetMaxStack(2 << 20)
	t.Cleanup(func() { debug.SetMaxStack(before) })
}

// chained returns the MetaGraph of a model whose signature calls n functions, each by the
// one before.
func chained(t *testing.T, n int, d pb.DataType) (dir string, mg *pb.MetaGraphDef) {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.DType(d), tf.Shape{-1}, tf.Name("x"))
	dir = savedGraph(t, g, x, ops.Identity(x, tf.Name("y")))
	mg = renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetName() == "y" {
			n.Op, n.Attr = "f0", nil
		}
	})
	mg.GraphDef.Library = &pb.FunctionDefLibrary{}
	for i := range n {
		f := &pb.FunctionDef{
			Signature: &pb.OpDef{Name: fmt.Sprintf("f%d", i), InputArg: []*pb.OpDef_ArgDef{{Name: "x", Type: d}}, OutputArg: []*pb.OpDef_ArgDef{{Name: "y", Type: d}}},
			NodeDef:   []*pb.NodeDef{{Name: "c", Op: fmt.Sprintf("f%d", i+1), Input: []string{"x"}}},
			Ret:       map[string]string{"y": "c:y:0"},
		}
		if i == n-1 {
			f.NodeDef, f.Ret = nil, map[string]string{"y": "x"}
		}
		mg.GraphDef.Library.Function = append(mg.GraphDef.Library.Function, f)
	}
	return dir, mg
}

// TestLongChainOfFunctions: a model may have functions that call each other deeper than
// any stack is.
func TestLongChainOfFunctions(t *testing.T) {
	smallStack(t)
	for _, d := range []pb.DataType{pb.DataType_DT_FLOAT, pb.DataType_DT_STRING} {
		dir, mg := chained(t, 20_000, d)
		m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := m.Signature(savedmodel.DefaultSignature).Prepare(t.Context()); err != nil && tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("so many calls within one another: %v", err)
		}
		m.Close()
	}
}

// TestLongChainOfConstants: weights may follow from constants by many steps.
func TestLongChainOfConstants(t *testing.T) {
	smallStack(t)
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	b := ops.Const(g, []float32{1, 2})
	for range 20_000 {
		b = ops.Neg(b)
	}
	y := ops.Relu(ops.BiasAdd(ops.MatMul(x, ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)), b))
	dir := savedGraph(t, g, x, y)
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), map[string]any{"x": [][]float32{{1, 0}}})
	if err != nil {
		t.Fatal(err)
	}
	if y, err := savedmodel.Values[float32](out, "y"); err != nil || y[0] != 2 || y[1] != 4 {
		t.Errorf("%v, %v", y, err)
	}
}
