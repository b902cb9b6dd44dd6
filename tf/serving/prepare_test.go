package serving_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

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

// silent fails a test that tells of a request or a run.
type silent struct{ t *testing.T }

func (s silent) Request(string, string, string, tf.Code, time.Duration) { s.t.Error("a request") }
func (s silent) Run(string, string, time.Duration)                      { s.t.Error("a run") }
func (s silent) Examples(string, int)                                   { s.t.Error("examples") }
func (s silent) Batch(string, int, int)                                 { s.t.Error("a batch") }

// TestSignaturesArePrepared: when a version is available its kernels have been made, and
// no metrics tell of that; requests make no more of them. With NoPrepare they do.
func TestSignaturesArePrepared(t *testing.T) {
	base := countedModel(t)
	for _, off := range []bool{false, true} {
		before := made.Load()
		server, err := serving.New(serving.Config{
			Models: []serving.Model{{Name: "m", BasePath: base}}, NoPrepare: off, Metrics: silent{t}, Batching: &serving.Batching{},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if err := server.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ready := made.Load(); (ready == before) != off {
			t.Errorf("%d kernels have been made when the version is available, off: %v", ready-before, off)
		}
	}
	requestsMakeNone(t, base)
}

// countedModel saves a model of the operation and returns its directory of versions.
func countedModel(t *testing.T) string {
	t.Helper()
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
	return base
}

// requestsMakeNone checks that a request to a model that is available makes no kernels.
func requestsMakeNone(t *testing.T, base string) {
	t.Helper()
	server, err := serving.New(serving.Config{Models: []serving.Model{{Name: "m", BasePath: base}}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready := made.Load()
	in := map[string]*pb.TensorProto{"x": core.TensorProto(core.Scalar(float32(3)))}
	in["x"].TensorShape = core.ShapeProto(tf.Shape{1})
	if _, err := server.Predict(t.Context(), &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "m"}, Inputs: in}); err != nil {
		t.Fatal(err)
	}
	if made.Load() != ready {
		t.Errorf("the first request has made %d kernels", made.Load()-ready)
	}
}
