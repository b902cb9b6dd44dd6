package direct

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestControlFlowOfTensorFlow runs graphs that TensorFlow 2.21 made of
// tf.while_loop, tf.cond and tf.case, on one device and scattered over three,
// and compares with its results.
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
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				g := imported(t, name)
				scatter(g, seed)
				optimized, plain := open(t, g, 3), open(t, g, 3, "all")
				for _, r := range runs {
					x, y := decode(t, r)
					compare(t, optimized, g, x, y)
					compare(t, plain, g, x, y)
				}
			}
		})
	}
}

// scatter puts operations on devices drawn at random; seed 0 on one.
func scatter(g *tf.Graph, seed uint64) {
	if seed == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for _, op := range g.Operations() {
		op.Device = fmt.Sprintf("/device:CPU:%d", r.IntN(3))
	}
}

func decode(t *testing.T, r [2]json.RawMessage) (x float32, y []float32) {
	t.Helper()
	if err := json.Unmarshal(r[0], &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r[1], &y); err != nil {
		t.Fatal(err)
	}
	return x, y
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
	got, err := fetch(t.Context(), s, map[tf.Output]*core.Tensor{g.Operation("x").Output(0): core.Scalar(x)}, g.Operation("y").Output(0))
	if err != nil {
		t.Fatalf("x = %v: %v", x, err)
	}
	values := core.Data[float32](got[0])
	if len(values) != len(want) {
		t.Fatalf("x = %v: got %v, want %v", x, got[0], want)
	}
	for i := range want {
		if values[i] != want[i] {
			t.Errorf("x = %v: got %v, want %v", x, got[0], want)
		}
	}
}
