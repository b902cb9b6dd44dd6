package interop

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"

	_ "github.com/gorge-tf/gorge/tf/ops/all"
)

const metaSteps = 5

// TestMetaGraphs trains a model that Python built and exported, with reference
// variables and with resources: gradients go through its loop and conditional by
// the contexts in its collections. Then Python trains what Gorge exports again.
func TestMetaGraphs(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	want := script(t, "metagraph.py", "make", dir)
	for i, name := range []string{"v1", "v2"} {
		t.Run(name, func(t *testing.T) {
			losses := want[i*metaSteps : (i+1)*metaSteps]
			g := importMeta(t, filepath.Join(dir, name+".meta"))
			again := filepath.Join(dir, name+"-again.meta")
			exportMeta(t, g, again)
			near(t, "Gorge", momentumLosses(t, g), losses)
			out := script(t, "metagraph.py", "train", again)
			if out[0] != "3 1 1 [3]" {
				t.Errorf("trainable and local variables, queue runners, sizes: %q", out[0])
			}
			var back []float64
			for _, line := range out[1:] {
				back = append(back, number(t, line))
			}
			near(t, "Python on what Gorge exported", back, losses)
		})
	}
}

func near(t *testing.T, who string, got []float64, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d losses, want %d", who, len(got), len(want))
	}
	for i, w := range want {
		if w := number(t, w); !(math.Abs(got[i]-w) <= 1e-6) {
			t.Errorf("%s: loss before step %d = %v, TensorFlow's %v", who, i, got[i], w)
		}
	}
}

func importMeta(t *testing.T, file string) *tf.Graph {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	if err := g.ImportMetaGraph(data, tf.ImportOptions{Prefix: "go"}); err != nil {
		t.Fatal(err)
	}
	return g
}

func exportMeta(t *testing.T, g *tf.Graph, file string) {
	t.Helper()
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// momentumLosses trains what is in the collection losses.
func momentumLosses(t *testing.T, g *tf.Graph) (out []float64) {
	t.Helper()
	loss := g.Collection("losses")[0].(tf.Output)
	step := train.Momentum{LearningRate: 0.1, Momentum: 0.9}.Minimize(loss)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	for range metaSteps {
		v, err := s.Run(t.Context(), nil, loss, step)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, float64(tf.Data[float32](v[0])[0]))
	}
	return out
}
