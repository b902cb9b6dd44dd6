package serving_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/serving"
	"github.com/gorge-tf/gorge/tf/session"
)

// made counts the kernels of the operation below.
var made atomic.Int32

func init() {
	core.Register(core.OpDef{
		Name: "ServingTestCounted", In: "x: float", Out: "y: float", Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			made.Add(1)
			return core.Compute(func(c *core.OpContext) error { c.Forward(0, 0); return nil }), nil
		}),
	})
}

// TestSignaturesArePrepared: when a version is available its kernels have been made;
// requests make no more of them.
func TestSignaturesArePrepared(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := tf.Apply(g, "ServingTestCounted", []tf.Output{x}).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	base := t.TempDir()
	b := new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		savedmodel.DefaultSignature: savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}),
	}})
	if err := b.Save(t.Context(), filepath.Join(base, "1")); err != nil {
		t.Fatal(err)
	}
	before := made.Load()
	server, err := serving.New(serving.Config{Models: []serving.Model{{Name: "m", BasePath: base}}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready := made.Load()
	if ready == before {
		t.Error("no kernel has been made when the version is available")
	}
	in := map[string]*pb.TensorProto{"x": core.TensorProto(core.Scalar(float32(3)))}
	in["x"].TensorShape = core.ShapeProto(tf.Shape{1})
	if _, err := server.Predict(t.Context(), &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "m"}, Inputs: in}); err != nil {
		t.Fatal(err)
	}
	if made.Load() != ready {
		t.Errorf("the first request has made %d kernels", made.Load()-ready)
	}
}
