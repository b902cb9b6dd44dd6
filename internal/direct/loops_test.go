package direct

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestControlFlowOfTensorFlow runs graphs that TensorFlow 2.21 made of
// tf.while_loop, tf.cond and tf.case, and compares with its results.
func TestControlFlowOfTensorFlow(t *testing.T) {
	data, err := os.ReadFile("testdata/loops.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][][2]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for name, runs := range want {
		for _, disabled := range [][]string{nil, {"all"}} {
			t.Run(name, func(t *testing.T) {
				g := imported(t, name)
				s := open(t, g, 2, disabled...)
				for _, r := range runs {
					var in float32
					var out []float32
					if err := json.Unmarshal(r[0], &in); err != nil {
						t.Fatal(err)
					}
					if err := json.Unmarshal(r[1], &out); err != nil {
						t.Fatal(err)
					}
					compare(t, s, g, in, out)
				}
			})
		}
	}
}

func imported(t *testing.T, name string) *tf.Graph {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".pb")
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	if err := g.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	return g
}

// compare feeds x and fetches y.
func compare(t *testing.T, s *Session, g *tf.Graph, x float32, want []float32) {
	t.Helper()
	got, err := fetch(t.Context(), s, map[tf.Output]*tf.Tensor{g.Operation("x").Output(0): tf.Scalar(x)}, g.Operation("y").Output(0))
	if err != nil {
		t.Fatalf("x = %v: %v", x, err)
	}
	values := tf.Data[float32](got[0])
	if len(values) != len(want) {
		t.Fatalf("x = %v: got %v, want %v", x, got[0], want)
	}
	for i := range want {
		if values[i] != want[i] {
			t.Errorf("x = %v: got %v, want %v", x, got[0], want)
		}
	}
}
