package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

// saved saves variables w and net/b and returns the checkpoint's name.
func saved(t *testing.T, dir, name string, w float32) string {
	t.Helper()
	g := eager.New()
	s, err := train.NewSaver(g, train.SaverOptions{Named: map[string]*tf.Variable{
		"w":     tf.NewVariable(ops.Const(g, []float32{1, w}), tf.VariableOptions{}),
		"net/b": tf.NewVariable(ops.Scalar(g, "text"), tf.VariableOptions{}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.Save(t.Context(), nil, filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// says runs a command and compares what it prints.
func says(t *testing.T, status int, want string, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs); code != status || !strings.Contains(out.String()+errs.String(), want) {
		t.Errorf("%v: status %d\n%s%s\nwant %d and %q", args, code, out.String(), errs.String(), status, want)
	}
}

func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	a, b := saved(t, dir, "a", 2), saved(t, dir, "b", 3)
	says(t, 0, "net/b  string   []   0  \nw      float32  [2]  8  \n2 tensors, 8 bytes\n", "checkpoint", "ls", a)
	says(t, 0, "2 tensors", "checkpoint", "ls", dir)
	says(t, 0, "w: float32[2]{1, 2}\n", "checkpoint", "show", a, "w")
	says(t, 1, "NOT_FOUND: Key x not found in checkpoint", "checkpoint", "show", a, "x")
	says(t, 0, "", "checkpoint", "diff", a, a)
	says(t, 1, "! w: 1 of 2 elements differ\nFAILED_PRECONDITION: the checkpoints differ", "checkpoint", "diff", a, b)
	c := filepath.Join(dir, "c")
	says(t, 0, "2 of 2 tensors renamed", "checkpoint", "rename", a, c, "w=v", "net/=deep/net/")
	says(t, 1, "- net/b\n- w\n+ deep/net/b\n+ v\n", "checkpoint", "diff", a, c)
	says(t, 1, "given as OLD=NEW", "checkpoint", "rename", a, c, "w")
	says(t, 1, "Adding duplicate key: w", "checkpoint", "rename", a, c, "net/b=w")
	says(t, 0, "v: float32[2]{1, 2}", "checkpoint", "show", c, "v")
	says(t, 1, "usage:", "checkpoint", "nothing")
}

func TestEvents(t *testing.T) {
	dir := t.TempDir()
	w, err := summary.NewFileWriter(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	for step := range int64(3) {
		if err := w.Scalar(step, "loss", 0.1*float32(step)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.Name(), b[:len(b)-3], 0o600); err != nil { // its writer was killed
		t.Fatal(err)
	}
	says(t, 0, "run  loss  scalar  2       0 to 1\n", "events", "ls", dir)
	says(t, 0, ",1,loss,0.1\n", "events", "export", dir)
	says(t, 0, `"step":1,"tag":"loss","value":0.1}`, "events", "export", "-format", "json", dir)
	says(t, 0, `"step":1,"tag":"loss","value":0.1}`, "events", "export", dir, "-format", "json")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil { // not all systems have links
		says(t, 0, "run  loss  scalar  2       0 to 1\n", "events", "ls", link)
	}
	says(t, 1, "NOT_FOUND: there must be event files", "events", "ls", t.TempDir())
	says(t, 1, "usage:", "events", "export", "-format", "xml", dir)
	says(t, 1, "usage:", "events")
	b[30] ^= 1
	if err := os.WriteFile(w.Name(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 1, "DATA_LOSS", "events", "ls", dir)
}

// TestCheckpointOfNaNs: a checkpoint does not differ from itself.
func TestCheckpointOfNaNs(t *testing.T) {
	dir := t.TempDir()
	nan := saved(t, dir, "nan", float32(math.NaN()))
	says(t, 0, "", "checkpoint", "diff", nan, nan)
	says(t, 1, "! w: 1 of 2 elements differ", "checkpoint", "diff", nan, saved(t, dir, "a", 2))
}
