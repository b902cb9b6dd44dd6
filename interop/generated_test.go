package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/session"
)

// generated says how many graphs TestGeneratedGraphs draws; GORGE_GENERATED
// asks for more.
func generated(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("GORGE_GENERATED"), 10, 64)
	if os.Getenv("GORGE_GENERATED") == "" {
		n, err = 100, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// genStep is a step as TensorFlow is told of it, and what it has computed.
type genStep struct {
	Fetches []string    `json:"fetches"`
	Targets []string    `json:"targets"`
	Values  [][]float32 `json:"values,omitempty"`
}

// genGraph is a graph as TensorFlow is told of it.
type genGraph struct {
	File  string               `json:"file"`
	Feeds map[string][]float32 `json:"feeds"`
	Steps []genStep            `json:"steps"`
}

// TestGeneratedGraphs runs graphs drawn at random as they are written on one
// device, optimized on one and on two, after an export and an import, and in
// TensorFlow. All have to give equal values in each step.
func TestGeneratedGraphs(t *testing.T) {
	needTensorFlow(t)
	const together = 200 // by one process of Python
	refused, n := 0, generated(t)
	for first := uint64(0); first < n; first += together {
		refused += compareGraphs(t, first, min(first+together, n))
	}
	// Of a thousand TensorFlow waits for ever for one or so when it is on two
	// devices, and for as many it takes an empty tensor out of a conditional in a
	// function, which then fits nowhere ("Incompatible shapes: [0] vs. [2,3]").
	// They have equal values here in every way of running them.
	if refused > 1+int(n)/500 {
		t.Errorf("TensorFlow could not run %d of %d graphs", refused, n)
	}
}

// compareGraphs draws the graphs of seeds from first up to end. It returns how
// many TensorFlow could not run.
func compareGraphs(t *testing.T, first, end uint64) (refused int) {
	t.Helper()
	dir := t.TempDir()
	var graphs []genGraph
	for seed := first; seed < end; seed++ {
		graphs = append(graphs, runHere(t, seed, dir))
	}
	manifest := filepath.Join(dir, "graphs.json")
	text, err := json.Marshal(graphs)
	if err == nil {
		err = os.WriteFile(manifest, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for k, line := range script(t, "generated.py", manifest) {
		seed := first + uint64(k)
		if strings.HasPrefix(line, `"`) {
			t.Logf("seed %d: TensorFlow: %s", seed, line)
			refused++
			continue
		}
		var there [][][]float32
		if err := json.Unmarshal([]byte(line), &there); err != nil {
			t.Fatalf("seed %d: %v: %s", seed, err, line)
		}
		for i, s := range graphs[k].Steps {
			compareStep(t, fmt.Sprintf("seed %d, step %d, TensorFlow", seed, i), s.Fetches, there[i], s.Values)
		}
	}
	return refused
}

// runHere draws a graph, exports it to dir and runs it in all ways that need no
// TensorFlow.
func runHere(t *testing.T, seed uint64, dir string) genGraph {
	t.Helper()
	d := draw(seed, twoCPUs...)
	if err := d.g.Err(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	def, err := d.g.MarshalGraphDef()
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	out := d.plan()
	out.File = filepath.Join(dir, fmt.Sprint(seed, ".pb"))
	if err := os.WriteFile(out.File, def, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]session.Config{
		"as written": {DisabledPasses: []string{"all"}, Devices: map[string]int{"CPU": 2}},
		"optimized":  {Devices: map[string]int{"CPU": 2}, Threads: 1},
		"one device": {SoftPlacement: true},
	} {
		runSteps(t, fmt.Sprintf("seed %d, %s", seed, name), d.g, cfg, &out)
	}
	g := tf.NewGraph()
	if err := g.ImportGraphDef(def, tf.ImportOptions{}); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	runSteps(t, fmt.Sprintf("seed %d, imported", seed), g, session.Config{Devices: map[string]int{"CPU": 2}}, &out)
	return out
}

// plan draws what is run of the graph.
func (d *drawing) plan() genGraph {
	out := genGraph{Feeds: map[string][]float32{}}
	for x, v := range d.feeds {
		out.Feeds[x.Name()] = tf.Data[float32](v)
	}
	out.Steps = d.steps()
	return out
}

// steps draws what to run: all variables begin, then a few steps.
func (d *drawing) steps() []genStep {
	first := genStep{Fetches: []string{}, Targets: []string{}}
	for _, op := range d.init {
		first.Targets = append(first.Targets, op.Name)
	}
	var out []genStep
	if len(d.init) > 0 {
		out = append(out, first)
	}
	for range 3 {
		s := genStep{Targets: []string{}}
		for _, x := range d.wanted() {
			s.Fetches = append(s.Fetches, x.Name())
		}
		// Whether an argument that a function makes no use of is computed depends
		// on whether the call is expanded: state changes in any case.
		if d.calls {
			for _, x := range d.updates {
				s.Targets = append(s.Targets, x.Operation().Name)
			}
		}
		out = append(out, s)
	}
	return out
}

// runSteps runs the steps of a graph in a session of its own. The first time it
// notes the values, then it compares.
func runSteps(t *testing.T, name string, g *tf.Graph, cfg session.Config, to *genGraph) {
	t.Helper()
	s, err := session.New(g, session.With(cfg))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer s.Close()
	for i := range to.Steps {
		step := &to.Steps[i]
		feeds := fed(g, to)
		got, err := s.Run(t.Context(), feeds, fetchables(t, g, step)...)
		if err != nil {
			t.Fatalf("%s, step %d: %v", name, i, err)
		}
		values := [][]float32{}
		for _, v := range got[:len(step.Fetches)] {
			values = append(values, slices.Clone(tf.Data[float32](v)))
		}
		scribble(got, feeds)
		if step.Values == nil {
			step.Values = values
		}
		compareStep(t, fmt.Sprintf("%s, step %d", name, i), step.Fetches, values, step.Values)
	}
}

// fed returns values to feed, in memory of their own.
func fed(g *tf.Graph, to *genGraph) session.Feeds {
	feeds := session.Feeds{}
	for x, v := range to.Feeds {
		op, _, _ := core.ParseTensorName(x)
		y := g.Operation(op).Output(0)
		value := (*tf.Tensor)(core.NewTensor(tf.Float32, y.Shape()))
		copy(tf.Data[float32](value), v)
		feeds[y] = value
	}
	return feeds
}

// scribble writes to all that a program holds after a step: the session shares
// none of it, so that the steps that follow are as if nothing had happened.
func scribble(got []*tf.Tensor, feeds session.Feeds) {
	for _, v := range feeds {
		t, _ := v.AsTensor()
		got = append(got, t)
	}
	for _, t := range got {
		if t != nil {
			for i := range tf.Data[float32](t) {
				tf.Data[float32](t)[i] = -12345
			}
		}
	}
}

func fetchables(t *testing.T, g *tf.Graph, s *genStep) (out []tf.Fetchable) {
	t.Helper()
	for _, name := range s.Fetches {
		op, k, err := core.ParseTensorName(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g.Operation(op).Output(k))
	}
	for _, name := range s.Targets {
		out = append(out, g.Operation(name))
	}
	return out
}

func compareStep(t *testing.T, name string, fetches []string, got, want [][]float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s: %s has %d elements, want %d", name, fetches[i], len(got[i]), len(want[i]))
		}
		for k := range want[i] {
			if got[i][k] != want[i][k] {
				t.Fatalf("%s: %s is %v, want %v", name, fetches[i], got[i], want[i])
			}
		}
	}
}

// TestGeneratedEagerly computes graphs without control flow eagerly, and in a
// session: all of their values are equal.
func TestGeneratedEagerly(t *testing.T) {
	for seed := range uint64(200) {
		d, e := drawIn(tf.NewGraph(), seed, true, twoCPUs...), drawIn(eager.New(), seed, true, twoCPUs...)
		s, err := session.New(d.g, session.With(session.Config{Devices: map[string]int{"CPU": 2}}))
		if err != nil {
			t.Fatal(err)
		}
		feeds := session.Feeds{}
		for x, v := range d.feeds {
			feeds[x] = v
		}
		for i, x := range append(d.mats, d.scalars...) {
			want, err := session.Fetch[float32](t.Context(), s, feeds, x)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got, err := append(e.mats, e.scalars...)[i].Value()
			if err != nil {
				t.Fatalf("seed %d, eagerly: %v", seed, err)
			}
			if !slices.Equal(tf.Data[float32](got), want) {
				t.Fatalf("seed %d: value %d is %v eagerly, %v in a session", seed, i, got, want)
			}
		}
		s.Close()
	}
}
