package xla_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops/all"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

var casesDir = flag.String("cases", "testdata", "where graphs are that testdata/make.py has written")

// TestCases runs the modules that JAX has exported, and compares with what TensorFlow
// computed. Each is a graph with a node "call", constants "in_0", … to be fed to "x_0",
// …, and constants "want_0", ….
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*casesDir, "*.pb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", *casesDir, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".pb"), func(t *testing.T) { runCase(t, f) })
	}
}

func readGraph(t *testing.T, file string) *tf.Graph {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	def, g := &pb.GraphDef{}, tf.NewGraph()
	if err := proto.Unmarshal(data, def); err != nil {
		t.Fatal(err)
	}
	if err := g.ImportProto(def, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	return g
}

func runCase(t *testing.T, file string) {
	g := readGraph(t, file)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feeds := session.Feeds{}
	for i := 0; g.Operation(fmt.Sprintf("in_%d", i)) != nil; i++ {
		v := g.Operation(fmt.Sprintf("in_%d", i)).TensorAttr("value")
		feeds[g.Operation(fmt.Sprintf("x_%d", i)).Output(0)] = (*tf.Tensor)(v)
	}
	var calls []tf.Fetchable
	for _, y := range g.Operation("call").Outputs() {
		calls = append(calls, y)
	}
	for range 2 {
		got, err := s.Run(context.Background(), feeds, calls...)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range got {
			want := g.Operation(fmt.Sprintf("want_%d", i)).TensorAttr("value")
			if d := tftest.Diff((*tf.Tensor)(want), y, tolerance(want.DType())); d != "" {
				t.Errorf("result %d: %s", i, d)
			}
		}
	}
}

// tolerance is as close as the order of sums lets results be.
func tolerance(d tf.DType) tftest.Option {
	switch d {
	case tf.Float16:
		return tftest.Within(4e-3, 4e-3)
	case tf.BFloat16:
		return tftest.Within(2e-2, 2e-2)
	}
	return tftest.Within(1e-5, 1e-5)
}
