package xla

import (
	"archive/zip"
	"io"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// graphNodes returns the nodes of graph operations in the model of testdata, and the
// functions that they refer to.
func graphNodes(t testing.TB) (nodes []*core.Node, library *core.Library) {
	t.Helper()
	z, err := zip.OpenReader("testdata/graphops.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err := io.ReadAll(must(z.Open("saved_model.pb")))
	if err != nil {
		t.Fatal(err)
	}
	model := &pb.SavedModel{}
	if err := proto.Unmarshal(data, model); err != nil {
		t.Fatal(err)
	}
	def := model.GetMetaGraphs()[0].GetGraphDef().GetLibrary()
	for _, f := range def.GetFunction() {
		for _, p := range f.GetNodeDef() {
			if _, ok := graphOps[p.GetOp()]; ok {
				attrs := must(core.AttrsFromProto(p.GetAttr(), core.Lookup(p.GetOp())))
				nodes = append(nodes, must(core.NewNode(p.GetName(), p.GetOp(), attrs)))
			}
		}
	}
	return nodes, must(core.NewLibrary(def))
}

// A vandal makes inputs and attributes at random.
type vandal struct {
	*rand.Rand
	library *core.Library
}

// shape returns a small shape, sometimes of huge, unknown or negative sizes.
func (v vandal) shape() tf.Shape {
	s := make(tf.Shape, v.IntN(5))
	for i := range s {
		s[i] = v.IntN(5)
		if v.IntN(12) == 0 {
			s[i] = []int{-1, 1 << 31, 1 << 40, 0}[v.IntN(4)]
		}
	}
	return s
}

// integers returns a tensor of integers that mean something, or do not.
func (v vandal) integers(d tf.DType) *core.Tensor {
	shape := []tf.Shape{{}, {v.IntN(5)}, {v.IntN(5), 2}, {2}}[v.IntN(4)]
	n := make([]int64, shape.NumElements())
	for i := range n {
		n[i] = int64(v.IntN(4))
		if v.IntN(12) == 0 {
			n[i] = []int64{-1, -1 << 31, 1<<31 - 1, 1 << 40, 100}[v.IntN(5)]
		}
	}
	if d == tf.Int64 {
		return must(core.FromSlice(n, shape...))
	}
	small := make([]int32, len(n))
	for i := range n {
		small[i] = int32(n[i])
	}
	return must(core.FromSlice(small, shape...))
}

// attrs damages the attributes of a node.
func (v vandal) attrs(a core.Attrs) core.Attrs {
	out := core.Attrs{}
	for name, x := range a {
		if v.IntN(3) > 0 {
			out[name] = x
			continue
		}
		switch x := x.(type) {
		case string:
			b := []byte(x)
			for range 1 + v.IntN(2) {
				if len(b) > 0 {
					b[v.IntN(len(b))] = []byte{0, 1, 2, 3, 8, 10, 18, 255}[v.IntN(8)]
				}
			}
			out[name] = string(b[:v.IntN(len(b)+1)])
		case []int64:
			out[name] = []int64{int64(v.IntN(5)) - 1}
		case int64:
			if out[name] = x; name == "batch_group_count" || name == "exponent_bits" || name == "mantissa_bits" {
				out[name] = []int64{-1, 0, 2, 7, 1 << 40}[v.IntN(5)]
			}
		case core.Func:
			names := v.library.Names()
			out[name] = core.Func{Name: names[v.IntN(len(names))]}
		default:
			out[name] = x
		}
	}
	return out
}

// TestGraphOperationsDamaged: damaged attributes and inputs of any shape give errors, and
// no panic, when shapes are inferred and when bodies are made.
func TestGraphOperationsDamaged(t *testing.T) {
	nodes, library := graphNodes(t)
	v := vandal{rand.New(rand.NewPCG(1, 2)), library}
	made := 0
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		for _, whole := range nodes {
			n, err := core.NewNode(whole.Name, whole.OpName(), v.attrs(whole.Attrs))
			if err != nil {
				continue
			}
			a, values := arguments{library: library}, map[int]*core.Tensor{}
			for i, d := range n.InTypes {
				a.shapes = append(a.shapes, v.shape())
				if d == tf.Int32 || d == tf.Int64 {
					values[i] = v.integers(d)
					a.shapes[i] = values[i].Shape()
				}
			}
			a.known = func(i int) *core.Tensor { return values[i] }
			if _, _, err := n.Infer(a.shapes, core.Known{Value: a.known}); tf.CodeOf(err) == tf.Internal {
				t.Fatalf("shapes of %s with %v of shapes %v: %v", n.OpName(), n.Attrs, a.shapes, err)
			}
			_, err = graphBody(n, a, free)
			if err == nil {
				made++
			}
			if c := tf.CodeOf(err); c == tf.Internal || c == tf.Unknown {
				t.Fatalf("%s with %v of shapes %v, %v: %v", n.OpName(), n.Attrs, a.shapes, values, err)
			}
		}
	}
	if made == 0 {
		t.Error("all bodies were refused: the damage is too great to show anything")
	}
	t.Logf("%d bodies of %d were made", made, rounds*len(nodes))
}
