package timeline

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// golden is what TensorFlow's own timeline makes of a file.
type golden map[string]struct {
	Trace    any
	Maximums map[string][3]any
}

var how = map[string]Options{
	"plain":  {},
	"memory": {Memory: true},
	"alone":  {HideDataflow: true},
	"gpu":    {OpTime: GPU, Memory: true},
	"all":    {OpTime: All},
}

func TestAgainstTensorFlow(t *testing.T) {
	for _, name := range []string{"measured", "invented"} {
		m, want := read(t, name)
		for how, o := range how {
			t.Run(name+"/"+how, func(t *testing.T) {
				before := proto.Clone(m)
				var b bytes.Buffer
				if err := Write(&b, m, o); err != nil {
					t.Fatal(err)
				}
				var got any
				if err := json.Unmarshal(b.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want[how].Trace, got); d != "" {
					t.Errorf("(-TensorFlow +here)\n%s", d)
				}
				if !proto.Equal(before, m) {
					t.Error("the statistics have been changed")
				}
			})
		}
		compareMaximums(t, m, want["memory"].Maximums)
	}
}

// TestNilWriter: a writer that is nil is a mistake, no panic.
func TestNilWriter(t *testing.T) {
	m, _ := read(t, "measured")
	if err := Write(nil, m, Options{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

func read(t *testing.T, name string) (*pb.RunMetadata, golden) {
	t.Helper()
	wire, err := os.ReadFile(filepath.Join("testdata", name+".pb"))
	if err != nil {
		t.Fatal(err)
	}
	m := &pb.RunMetadata{}
	if err := proto.Unmarshal(wire, m); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return m, g
}

func compareMaximums(t *testing.T, m *pb.RunMetadata, want map[string][3]any) {
	t.Helper()
	maximums, err := Maximums(m)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][3]any{}
	for name, x := range maximums {
		tensors := []any{}
		for _, s := range x.Tensors {
			tensors = append(tensors, s)
		}
		got[name] = [3]any{float64(x.Micros), float64(x.Bytes), tensors}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("maximums (-TensorFlow +here)\n%s", d)
	}
}

// TestOwnStep draws a step of a session: each node is there, with arrows
// between the devices.
func TestOwnStep(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2})
	y := x.Add(x, tf.Name("y"), tf.OnDevice("/device:CPU:0"))
	z := y.Square(tf.Name("z"), tf.OnDevice("/device:CPU:1"))
	s, err := session.New(g, session.Devices("CPU", 2), session.With(session.Config{Devices: map[string]int{"CPU": 2}, DisabledPasses: []string{"all"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace}, nil, z)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, m, Options{Memory: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"op": "Square"`, `"op": "AddV2"`, `"input0": "y/_`, `"cat": "DataFlow"`, "device:CPU:1 Compute", `"cpu": `} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in the trace", want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, f := range map[string]func() error{
		"nothing measured": func() error { return Write(nil, &session.RunMetadata{}, Options{}) },
		"odd time":         func() error { return Write(nil, &session.RunMetadata{StepStats: &pb.StepStats{}}, Options{OpTime: 7}) },
		"maximums":         func() error { _, err := Maximums(nil); return err },
	} {
		if err := f(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
