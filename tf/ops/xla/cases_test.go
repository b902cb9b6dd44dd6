package xla_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops/all"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

var modules = flag.String("modules", "testdata/modules.pb.gz", "the graph of cases that testdata/make.py has written")

// readCases reads a graph of cases: see testdata/make.py.
func readCases(t testing.TB, file string) (*tf.Graph, []string) {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
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
	var names []string
	for _, n := range def.GetNode() {
		if name, ok := strings.CutSuffix(n.GetName(), "/call"); ok {
			names = append(names, name)
		}
	}
	return g, names
}

// TestModules runs modules that JAX has exported, and compares with what TensorFlow
// computed: with their bodies in their place, and with calls of the bodies.
func TestModules(t *testing.T) {
	g, names := readCases(t, *modules)
	for _, c := range []struct {
		how  string
		opts []session.Option
	}{{"inlined", nil}, {"called", []session.Option{session.With(session.Config{DisabledPasses: []string{"function_inlining"}})}}} {
		s, err := session.New(g, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, name := range names {
			t.Run(c.how+"/"+name, func(t *testing.T) { runCase(t, g, s, name) })
		}
	}
}

func runCase(t *testing.T, g *tf.Graph, s *session.Session, name string) {
	op := func(format string, i int) *tf.Operation { return g.Operation(name + fmt.Sprintf(format, i)) }
	feeds := session.Feeds{}
	for i := 0; op("/in_%d", i) != nil; i++ {
		feeds[op("/x_%d", i).Output(0)] = (*tf.Tensor)(op("/in_%d", i).TensorAttr("value"))
	}
	var calls []tf.Fetchable
	for _, y := range g.Operation(name + "/call").Outputs() {
		calls = append(calls, y)
	}
	for range 3 { // calls of shapes that have come before may be of bodies of their own
		got, err := s.Run(context.Background(), feeds, calls...)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range got {
			want := (*tf.Tensor)(op("/want_%d", i).TensorAttr("value"))
			if d := tftest.Diff(want, y, tolerance(want.DType())); d != "" {
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
