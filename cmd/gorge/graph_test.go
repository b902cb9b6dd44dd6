package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// explained runs gorge graph explain, which must succeed.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"graph", "explain"}, args...), &out, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("status %d: %s", code, errs.String())
	}
	return out.String()
}

// placedGraph is a graph of a cluster whose variable is on a parameter server.
func placedGraph(t *testing.T) (*tf.Graph, string) {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 8}, tf.Name("x"), tf.OnDevice("/job:worker/task:1/device:CPU:0"))
	w := tf.NewVariable(ops.Constant(g, [][]float32{{1, 2}, {3, 4}}), tf.VariableOptions{Name: "w"})
	s := ops.Sigmoid(ops.Neg(x, tf.Name("n")), tf.Name("s"), tf.OnDevice("/job:ps/task:0"))
	ops.AsString(s, tf.Name("text"))
	ops.Neg(w.Value(), tf.Name("negated"))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	data, err := g.MarshalGraphDef()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "g.pb")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return g, file
}

// TestGraphExplain: the text names what is joined and what not, for each kind of file.
func TestGraphExplain(t *testing.T) {
	g, file := placedGraph(t)
	meta := filepath.Join(t.TempDir(), "g.meta")
	if err := train.ExportMetaGraph(g, meta, nil); err != nil {
		t.Fatal(err)
	}
	joined := "s/fused: 2 nodes\n\tn = Neg\n\ts = Sigmoid\n"
	for _, path := range []string{file, meta} {
		text := explained(t, path)
		for _, want := range []string{joined, "not fused: negated = Neg (", "2 of them joined to 1", "1 AsString"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", path, want, text)
			}
		}
	}
	if text := explained(t, file, "--outputs=s:0"); !strings.Contains(text, joined) || strings.Contains(text, "negated") {
		t.Errorf("of one output:\n%s", text)
	}
	if text := explained(t, file, "--outputs=s", "--inputs=n:0"); strings.Contains(text, joined) || !strings.Contains(text, "not fused: s = Sigmoid (no other node can be in a cluster)") {
		t.Errorf("with the input fed:\n%s", text)
	}
	if text := explained(t, digitsModel); !strings.Contains(text, "device:CPU:0: ") || !strings.Contains(text, "of other kinds: ") {
		t.Errorf("of a SavedModel:\n%s", text)
	}
}

// TestGraphExplainRefuses: each mistake is one line and a status.
func TestGraphExplainRefuses(t *testing.T) {
	_, file := placedGraph(t)
	empty := filepath.Join(t.TempDir(), "empty.pb")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`takes one path, got []`:                     nil,
		`No such file or directory`:                  {"/none.pb"},
		`must be a GraphDef`:                         {"graph.go"},
		`there is no operation "none"`:               {file, "--outputs=none"},
		`'none', does not exist in the graph`:        {file, "--inputs=none:0"},
		`one of ["serving_default"] by`:              {digitsModel, "--signature_def=other"},
		`must have an operation that can be fetched`: {empty},
		`Could not find SavedModel .pb or .pbtxt`:    {t.TempDir()},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"graph", "explain"}, args...), &out, &errs)
		if text := errs.String(); code == 0 || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || out.Len() > 0 {
			t.Errorf("status %d, %q, want one line with %q", code, text, want)
		}
	}
}
