package summary_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// tensorOf returns the elements of a stored tensor.
func tensorOf(p *pb.TensorProto) ([]float32, error) {
	t, err := core.TensorFromProto(p)
	if err != nil {
		return nil, err
	}
	return core.Data[float32](t), nil
}

// TestTagged merges a summary of each kind: tags are names within scopes.
func TestTagged(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	x := ops.Const(g, []float32{0.1, 0.4, 0.6, 0.9})
	g.Scope("net", func() {
		summary.Scalar("loss", ops.Scalar(g, float32(3)))
		summary.Scalar("loss", ops.Scalar(g, float32(4)))
		summary.Histogram("weights", x)
	})
	summary.Image("pixels", x.Reshape(1, 2, 2, 1), 0)
	summary.Audio("sound", x.Reshape(1, 4), 8000, 1)
	summary.Tensor("whole", x)
	summary.Text("note", ops.Scalar(g, "a *b*"))
	summary.PRCurve("curve", ops.Const(g, []bool{false, true, false, true}), x, 3)
	all := summary.MergeAll(g)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := session.Fetch[string](t.Context(), s, nil, all)
	if err != nil {
		t.Fatal(err)
	}
	m := &pb.Summary{}
	if err := proto.Unmarshal([]byte(out[0]), m); err != nil {
		t.Fatal(err)
	}
	plugins := map[string]string{"net/loss": "", "net/loss_1": "", "net/weights": "", "pixels/image/0": "", "sound/audio": "", "whole": "", "note": "text", "curve/pr_curves": "pr_curves"}
	for _, v := range m.GetValue() {
		want, ok := plugins[v.GetTag()]
		if !ok && v.GetTag() == "pixels/image" {
			ok = true
		}
		if !ok || v.GetMetadata().GetPluginData().GetPluginName() != want {
			t.Errorf("%s of %q", v.GetTag(), v.GetMetadata().GetPluginData().GetPluginName())
		}
		if v.GetTag() == "curve/pr_curves" {
			if name := v.GetMetadata().GetDisplayName(); name != "curve" {
				t.Errorf("the curve is shown as %q", name)
			}
			// Thresholds 0, 0.5 and 1: predictions 0.1 0.4 0.6 0.9 of no yes no yes.
			got, err := tensorOf(v.GetTensor())
			want := []float32{2, 1, 0, 2, 1, 0, 0, 1, 2, 0, 1, 2, 0.5, 0.5, 0, 1, 0.5, 0}
			if err != nil || len(got) != len(want) {
				t.Fatal(got, err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("curve: %v, want %v", got, want)
					break
				}
			}
		}
	}
	if len(m.GetValue()) != 8 {
		t.Errorf("%d summaries, want 8", len(m.GetValue()))
	}
}

// TestTagsAreCleaned sees that names become tags as in TensorFlow, which takes any.
func TestTagsAreCleaned(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	summary.Scalar("loss (train) %", x)
	summary.Scalar("//a/b-c.d", x)
	summary.Scalar("größe", x)
	summary.PRCurve("p r", ops.Constant(g, []bool{true}), ops.Const(g, []float32{1}), 2)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := session.Fetch[string](t.Context(), s, nil, summary.MergeAll(g))
	if err != nil {
		t.Fatal(err)
	}
	m := &pb.Summary{}
	if err := proto.Unmarshal([]byte(out[0]), m); err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, v := range m.GetValue() {
		tags = append(tags, v.GetTag())
	}
	if want := []string{"loss__train___", "a/b-c.d", "gr__e", "p_r/pr_curves"}; !slices.Equal(tags, want) {
		t.Errorf("got %q, want %q", tags, want)
	}
}

// TestCurveOfNothing: a curve whose operands are missing carries the error.
func TestCurveOfNothing(t *testing.T) {
	g := tf.NewGraph()
	yes, x := ops.Const(g, []bool{true}), ops.Const(g, []float32{0.5})
	for _, y := range []tf.Output{summary.PRCurve("c", tf.Output{}, x, 3), summary.PRCurve("c", yes, tf.Output{}, 3), summary.PRCurve("c", tf.Output{}, x, 1)} {
		if tf.CodeOf(y.Err()) != tf.InvalidArgument {
			t.Error(y.Err())
		}
	}
}
