package xla_test

import (
	"archive/zip"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

var familiesFile = flag.String("families", "testdata/families.zip", "what testdata/make_families.py has written")

// TestFamilies runs modules of random parameters by family of operations, which JAX has
// exported, and compares with what XLA computed from the same operands.
func TestFamilies(t *testing.T) {
	z, err := zip.OpenReader(*familiesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		t.Run(strings.TrimSuffix(f.Name, ".pb"), func(t *testing.T) { runEntry(t, f) })
	}
}

func runEntry(t *testing.T, f *zip.File) {
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
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
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	compareCall(t, g, s)
}

// compareCall runs the node "call" with the constants "in_0", …, and compares with
// "want_0", ….
func compareCall(t *testing.T, g *tf.Graph, s *session.Session) {
	feeds := session.Feeds{}
	for i := 0; g.Operation(fmt.Sprintf("in_%d", i)) != nil; i++ {
		v := g.Operation(fmt.Sprintf("in_%d", i)).TensorAttr("value")
		feeds[g.Operation(fmt.Sprintf("x_%d", i)).Output(0)] = (*tf.Tensor)(v)
	}
	var fetches []tf.Fetchable
	for _, y := range g.Operation("call").Outputs() {
		fetches = append(fetches, y)
	}
	got, err := s.Run(context.Background(), feeds, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range got {
		want := g.Operation(fmt.Sprintf("want_%d", i)).TensorAttr("value")
		if d := tftest.Diff((*tf.Tensor)(want), y, closeness(want.DType())); d != "" {
			t.Errorf("result %d: %s", i, d)
		}
	}
}

// closeness is how close sums in another order come.
func closeness(d tf.DType) tftest.Option {
	switch d {
	case tf.Float16:
		return tftest.Within(4e-3, 4e-3)
	case tf.Float64, tf.Complex128:
		return tftest.Within(1e-10, 1e-10)
	}
	return tftest.Within(1e-5, 1e-5)
}
