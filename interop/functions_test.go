package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// array is a tensor as the script writes it.
type array struct {
	Shape  []int
	Values []float32
}

func (a *array) tensor(t *testing.T) *tf.Tensor {
	t.Helper()
	v, err := tf.FromSlice(a.Values, a.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// functionCase is a graph that the script has made, and what it computes.
type functionCase struct {
	Name   string
	Feeds  map[string]array
	Assign map[string]array // values of variables, by name
	Fetch  string
	Want   array
	X      string // what to take the gradient of, if any
	DX     array
}

// TestFunctionsOfTensorFlow: what TensorFlow 2 makes of functions, of control
// flow and of Keras models computes the same here, frozen or not, and so do
// gradients that are added here.
func TestFunctionsOfTensorFlow(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	script(t, "functions.py", "make", dir)
	data, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []functionCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		t.Run(cases[i].Name, func(t *testing.T) { cases[i].run(t, dir) })
	}
	addr := ports(t, 1)[0]
	serve(t, ofGorge, "worker|"+addr, "worker", 0)
	for _, line := range script(t, "functions.py", "run", dir, "grpc://"+addr) {
		name, off, _ := strings.Cut(line, " ")
		if !(number(t, off) <= 1e-5) {
			t.Errorf("%s by Python is off by %s", name, off)
		}
	}
}

func (c *functionCase) run(t *testing.T, dir string) {
	data, err := os.ReadFile(filepath.Join(dir, c.Name+".pb"))
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	if err := g.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	output := func(name string) tf.Output {
		x, err := g.Output(name)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	fetches, want := []tf.Fetchable{output(c.Fetch)}, []array{c.Want}
	if c.X != "" {
		dx, err := tf.Gradients(output(c.Fetch), output(c.X))
		if err != nil {
			t.Fatal(err)
		}
		fetches, want = append(fetches, dx[0]), append(want, c.DX)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, v := range c.Assign {
		if _, err := s.Run(t.Context(), session.Feeds{output(name + "_value:0"): v.tensor(t)}, g.Operation(name+"_assign")); err != nil {
			t.Fatal(err)
		}
	}
	feeds := session.Feeds{}
	for name, v := range c.Feeds {
		feeds[output(name)] = v.tensor(t)
	}
	got, err := s.Run(t.Context(), feeds, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		tftest.Equal(t, got[i], want[i].tensor(t), tftest.Within(1e-5, 1e-5))
	}
}
