package xla_test

import (
	"archive/zip"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// The model is what interop/testdata/xlagraphs.py writes, with arguments DIR 3 7, as a zip file.
var graphModel = flag.String("graphops", "testdata/graphops.zip", "a SavedModel of graph operations of XLA")

// graphOpNames are the operations of which the model has samples.
const graphOpNames = "XlaBroadcastHelper XlaConv XlaConvV2 XlaDot XlaDotV2 XlaDynamicSlice XlaDynamicUpdateSlice XlaEinsum XlaGather XlaKeyValueSort " +
	"XlaOptimizationBarrier XlaPad XlaReduce XlaReducePrecision XlaReduceWindow XlaRngBitGenerator XlaScatter XlaSelectAndScatter XlaSelfAdjointEig " +
	"XlaSharding XlaSort XlaSvd XlaVariadicReduce XlaVariadicReduceV2 XlaVariadicSort XlaWhile"

// directNames are those that have samples of their own, too.
const directNames = "XlaDynamicSlice XlaDynamicUpdateSlice XlaEinsum XlaOptimizationBarrier XlaSharding"

func init() {
	for _, op := range strings.Fields(graphOpNames) {
		if !strings.Contains(directNames, op) {
			optest.Unsampled(op, "it runs under XLA only in TensorFlow; see TestGraphOperations")
		}
	}
	for _, op := range []string{"XlaIf", "XlaReplicaId", "XlaRemoveDynamicDimensionSize", "XlaSetBound", "XlaSetDynamicDimensionSize", "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape"} {
		optest.Unsampled(op, "see TestGraphOperationsOfOneDevice")
	}
}

func loadGraphs(t *testing.T) (*savedmodel.Model, []string) {
	t.Helper()
	z, err := zip.OpenReader(*graphModel)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	var names []string
	for name := range m.MetaGraph().GetSignatureDef() {
		if base, ok := strings.CutSuffix(name, "_want"); ok {
			names = append(names, base)
		}
	}
	return m, names
}

// TestGraphOperations compares with what TensorFlow computed by XLA.
func TestGraphOperations(t *testing.T) {
	m, names := loadGraphs(t)
	if len(names) == 0 {
		t.Fatal("the model has no cases")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			run := func(signature string, in map[string]any) map[string]*tf.Tensor {
				out, err := m.Signature(signature).Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			in := map[string]any{}
			for key, x := range run(name+"_in", nil) {
				in[key] = x
			}
			got, want := run(name, in), run(name+"_want", nil)
			for key := range want {
				if d := tftest.Diff(want[key], got[key], tolerance(want[key].DType())); d != "" {
					t.Errorf("%s: %s", key, d)
				}
			}
		})
	}
}

// apply adds an operation of one result to a graph of its own and runs it.
func apply(t *testing.T, op string, in []any, attrs ...tf.Option) (*tf.Tensor, error) {
	t.Helper()
	g := tf.NewGraph()
	xs := make([]tf.Output, len(in))
	for i, v := range in {
		xs[i] = ops.Constant(g, v)
	}
	return runOne(t, g, tf.Apply(g, op, xs, attrs...))
}

func runOne(t *testing.T, g *tf.Graph, op *tf.Operation) (*tf.Tensor, error) {
	t.Helper()
	if err := g.Err(); err != nil {
		return nil, err
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, op.Output(0))
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// TestGraphOperationsOfOneDevice: what is of use to several devices returns what it
// takes, and sizes that XLA counts are those of slices.
func TestGraphOperationsOfOneDevice(t *testing.T) {
	x := []float32{1, 2, 3}
	for _, c := range []struct {
		op    string
		in    []any
		attrs []tf.Option
		want  string
	}{
		{"XlaSpmdFullToShardShape", []any{x}, []tf.Option{tf.Attr("manual_sharding", "")}, "float32[3]{1, 2, 3}"},
		{"XlaSpmdShardToFullShape", []any{x}, []tf.Option{tf.Attr("manual_sharding", ""), tf.Attr("full_shape", tf.Shape{3})}, "float32[3]{1, 2, 3}"},
		{"XlaRemoveDynamicDimensionSize", []any{x, int32(0)}, nil, "float32[3]{1, 2, 3}"},
		{"XlaSetDynamicDimensionSize", []any{x, int32(0), int32(2)}, nil, "float32[2]{1, 2}"},
		{"XlaSetBound", []any{int32(5), int32(9)}, nil, "int32[]{5}"},
		{"XlaReplicaId", nil, nil, "int32[]{0}"},
	} {
		got, err := apply(t, c.op, c.in, c.attrs...)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.op, got, err, c.want)
		}
	}
}

// TestGraphConditional runs XlaIf, which TensorFlow itself does not compile any more.
func TestGraphConditional(t *testing.T) {
	for _, c := range []struct {
		cond bool
		want string
	}{{true, "float32[]{6}"}, {false, "float32[]{-3}"}} {
		g := tf.NewGraph()
		scalar := []tf.ArgSpec{{DType: tf.Float32}}
		yes := tf.NewFunction(g, "twice", scalar, func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mul(float32(2))} })
		no := tf.NewFunction(g, "minus", scalar, func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mul(float32(-1))} })
		for _, f := range []*tf.Function{yes, no} {
			f.Call([]tf.Output{ops.Constant(g, float32(0))}) // the graph has functions that it calls
		}
		op := tf.Apply(g, "XlaIf", []tf.Output{ops.Constant(g, c.cond), ops.Constant(g, float32(3))},
			tf.Attr("then_branch", core.Func{Name: yes.Name()}), tf.Attr("else_branch", core.Func{Name: no.Name()}), tf.Attr("Tout", []tf.DType{tf.Float32}))
		got, err := runOne(t, g, op)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%v: got %v, %v, want %s", c.cond, got, err, c.want)
		}
	}
}

// TestGraphOperationsRefused: mistakes are told with the op's name.
func TestGraphOperationsRefused(t *testing.T) {
	m := [][]float32{{1, 2}, {3, 4}}
	two, pads := []int32{1, 1}, [][]int32{{0, 0}, {0, 0}}
	line, single, around := [][][]float32{{{1}}}, []int32{1}, [][]int32{{0, 0}}
	numbers := func(s string) []tf.Option {
		return []tf.Option{tf.Attr("dimension_numbers", s), tf.Attr("precision_config", "")}
	}
	for _, c := range []struct {
		op    string
		in    []any
		attrs []tf.Option
		want  string
	}{
		{"XlaDot", []any{m, m}, numbers("\xff"), "serialized message"},
		{"XlaDot", []any{m, m}, numbers("\x0a\x01\x05\x12\x01\x00"), "dimension_numbers must name"},
		{"XlaDot", []any{m, []float32{1, 2, 3}}, numbers("\x0a\x01\x01\x12\x01\x00"), "Dimensions must be equal, but are 2 and 3"},
		{"XlaConv", []any{line, line, single, around, single, single, int32(1)}, numbers(""), "dimensions must be 0 to 2 in some order"},
		{"XlaConv", []any{float32(1), m, two, pads, two, two, int32(1)}, numbers(""), "got rank 0"},
		{"XlaConv", []any{line, line, single, around, single, single, two}, numbers(""), "must be a scalar"},
		{"XlaDynamicSlice", []any{m, two, []int32{1, 7}}, nil, "Expected size[1] in [0, 2], but got 7"},
		{"XlaDynamicSlice", []any{m, []int32{1}, two}, nil, "must be a vector of 2 elements"},
		{"XlaDynamicUpdateSlice", []any{m, [][]float32{{1, 2, 3}}, two}, nil, "Cannot broadcast input shape [1,3] into final shape [1,2]"},
		{"XlaPad", []any{m, float32(0), two, []int64{1, 1}, two}, nil, "Tindices"},
		{"XlaGather", []any{m, two, two}, append(numbers("\x20\x09")[:1], tf.Attr("indices_are_sorted", false)), "index_vector_dim must be in [0, 1], got 9"},
		{"XlaRngBitGenerator", []any{int32(9), []uint64{1, 2}, two}, nil, "algorithm must be 1, 2 or 3, got 9"},
		{"XlaRngBitGenerator", []any{int32(1), []uint64{1, 2, 3}, []int32{1 << 30, 1 << 30}}, nil, "at most"},
		{"XlaBroadcastHelper", []any{m, []float32{1, 2}, []int32{4}}, nil, "broadcast_dims must"},
		{"XlaSetDynamicDimensionSize", []any{m, int32(2), int32(1)}, nil, "dim_index must be in [0, 2)"},
		{"XlaSort", []any{float32(1)}, nil, "a dimension"},
		{"XlaSvd", []any{float32(1)}, []tf.Option{tf.Attr("max_iter", 1), tf.Attr("epsilon", float32(0)), tf.Attr("precision_config", "")}, "matrices"},
	} {
		_, err := apply(t, c.op, c.in, c.attrs...)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.op) || tf.CodeOf(err) == tf.Internal {
			t.Errorf("%s: got %v, want one with %q and the op's name", c.op, err, c.want)
		}
	}
}

// TestGraphOperationOfManyShapes: a node that gets ever new shapes shares what it has
// become among them, and computes the same, in steps that run at once, too.
func TestGraphOperationOfManyShapes(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2})
	y := tf.Apply(g, "XlaDot", []tf.Output{x, ops.Constant(g, [][]float32{{1}, {2}})}, tf.Attr("dimension_numbers", "\x0a\x01\x01\x12\x01\x00"), tf.Attr("precision_config", ""))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	t.Run("sizes", func(t *testing.T) { manySizes(t, s, x, y) })
}

func manySizes(t *testing.T, s *session.Session, x tf.Output, y *tf.Operation) {
	for n := range 30 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			rows, want := make([]float32, 2*n), make([]float32, n)
			for i := range n {
				rows[2*i], rows[2*i+1], want[i] = float32(i), 1, float32(i+2)
			}
			in, err := tf.FromSlice(rows, n, 2)
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(context.Background(), session.Feeds{x: in}, y.Output(0))
			if err != nil {
				t.Fatal(err)
			}
			expected, err := tf.FromSlice(want, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			if d := tftest.Diff(expected, out[0]); d != "" {
				t.Error(d)
			}
		})
	}
}
