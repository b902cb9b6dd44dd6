package savedmodel_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// asVariables makes what randomConst returns the values of variables.
var asVariables bool

// randomConst is a constant of a shape with elements from low to high.
func randomConst(g *tf.Graph, r *rand.Rand, low, high float32, shape ...int) tf.Output {
	v := make([]float32, tf.Shape(shape).NumElements())
	for i := range v {
		v[i] = low + r.Float32()*(high-low)
	}
	if c := ops.Const(g, v, shape...); !asVariables {
		return c
	}
	return tf.NewVariable(ops.Const(g, v, shape...), tf.VariableOptions{Name: "random", Reference: r.IntN(3) == 0}).Read()
}

// normalized is x normalized by constants, with c channels.
func normalized(g *tf.Graph, r *rand.Rand, x tf.Output, c int, opts ...tf.Option) tf.Output {
	opts = append([]tf.Option{tf.Attr("is_training", false), tf.Attr("epsilon", float32(1e-3))}, opts...)
	return ops.FusedBatchNormV3(x, randomConst(g, r, 0.5, 2, c), randomConst(g, r, -1, 1, c), randomConst(g, r, -1, 1, c), randomConst(g, r, 0.1, 2, c), opts...)[0]
}

// foldCases are networks of an image x, by how many normalizations and products are
// left of those that they have.
var foldCases = map[string]struct {
	left  int
	build func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output
}{
	"convolution": {0, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		y := normalized(g, r, ops.Conv2D(x, ops.Identity(randomConst(g, r, -1, 1, 3, 3, 3, 8)), []int{1, 1, 1, 1}, "SAME"), 8)
		y = ops.Conv2D(ops.Relu(y), randomConst(g, r, -1, 1, 3, 3, 8, 4), []int{1, 2, 2, 1}, "VALID")
		return normalized(g, r, ops.BiasAdd(y, randomConst(g, r, -1, 1, 4)), 4)
	}},
	"depthwise": {0, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		return normalized(g, r, ops.DepthwiseConv2dNative(x, randomConst(g, r, -1, 1, 3, 3, 3, 2), []int{1, 1, 1, 1}, "SAME"), 6)
	}},
	"product": {0, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		rows := ops.Reshape(x, ops.Const(g, []int32{-1, 3}))
		factor := ops.Mul(randomConst(g, r, 0.5, 2, 5), ops.Rsqrt(randomConst(g, r, 0.1, 2, 5)))
		y := ops.BiasAdd(ops.MatMul(rows, randomConst(g, r, -1, 1, 3, 5)), randomConst(g, r, -1, 1, 5))
		return ops.AddV2(ops.Mul(factor, y), randomConst(g, r, -1, 1, 5))
	}},
	"used twice": {1, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		y := ops.Conv2D(x, randomConst(g, r, -1, 1, 3, 3, 3, 8), []int{1, 1, 1, 1}, "SAME")
		return ops.AddV2(y, normalized(g, r, y, 8))
	}},
	"shared weights": {2, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		w := randomConst(g, r, -1, 1, 3, 3, 3, 3)
		y := normalized(g, r, ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME"), 3)
		return normalized(g, r, ops.Conv2D(y, w, []int{1, 1, 1, 1}, "SAME"), 3)
	}},
	"training": {1, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		return normalized(g, r, ops.Conv2D(x, randomConst(g, r, -1, 1, 3, 3, 3, 8), []int{1, 1, 1, 1}, "SAME"), 8, tf.Attr("is_training", true))
	}},
	"a variable": {1, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		w := tf.NewVariable(randomConst(g, r, -1, 1, 3, 3, 3, 8), tf.VariableOptions{Name: "w"})
		return normalized(g, r, ops.Conv2D(x, w.Value(), []int{1, 1, 1, 1}, "SAME"), 8)
	}},
	"a matrix as factor": {1, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		rows := ops.MatMul(ops.Reshape(x, ops.Const(g, []int32{-1, 3})), randomConst(g, r, -1, 1, 3, 5))
		return ops.Mul(rows, randomConst(g, r, 0.5, 2, 1, 1, 5))
	}},
	"no finite factor": {1, func(g *tf.Graph, r *rand.Rand, x tf.Output) tf.Output {
		y := ops.MatMul(ops.Reshape(x, ops.Const(g, []int32{-1, 3})), randomConst(g, r, -1, 1, 3, 2))
		return ops.Mul(y, ops.Const(g, []float32{1, float32(math.Inf(1))}))
	}},
}

// TestFoldNorms: folding drops normalizations and changes results by rounding only.
func TestFoldNorms(t *testing.T) {
	for name, c := range foldCases {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 9, 9, 3}, tf.Name("x"))
			y := c.build(g, r, x)
			dir := savedGraph(t, g, x, y)
			input := make([]float32, 2*9*9*3)
			for i := range input {
				input[i] = r.Float32()
			}
			in := map[string]any{"x": must(tf.FromSlice(input, 2, 9, 9, 3))}
			want, before := results(t, dir, in, savedmodel.Options{NoFold: true})
			got, after := results(t, dir, in, savedmodel.Options{})
			if after != c.left || before < after {
				t.Errorf("of %d normalizations %d are left, want %d", before, after, c.left)
			}
			for i := range want {
				if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*max(1, math.Abs(float64(want[i])))) && got[i] != want[i] && want[i] == want[i] {
					t.Fatalf("element %d: %v, unfolded %v", i, got[i], want[i])
				}
			}
		})
	}
}

// TestFoldNormsOfVariables: weights and parameters that are variables are folded when a
// signature runs; what is assigned later counts, however the program assigns it.
func TestFoldNormsOfVariables(t *testing.T) {
	asVariables = true
	defer func() { asVariables = false }()
	for name, c := range foldCases {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 9, 9, 3}, tf.Name("x"))
			dir := savedGraph(t, g, x, c.build(g, r, x))
			input := make([]float32, 2*9*9*3)
			for i := range input {
				input[i] = r.Float32()
			}
			in := map[string]any{"x": must(tf.FromSlice(input, 2, 9, 9, 3))}
			plain, folds := must(savedmodel.Load(t.Context(), dir, savedmodel.Options{NoFreeze: true})), load(t, dir)
			defer plain.Close()
			for round := range 3 {
				want, got := runY(t, plain, in), runY(t, folds, in)
				bound := 1.0 // sums of large terms may be small
				for _, y := range want {
					if a := math.Abs(float64(y)); !math.IsInf(a, 0) && !math.IsNaN(a) {
						bound = max(bound, a)
					}
				}
				for i := range want {
					if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*bound) && got[i] != want[i] && want[i] == want[i] {
						t.Fatalf("round %d, element %d: %v, not frozen %v", round, i, got[i], want[i])
					}
				}
				scaleFirst(t, plain, folds)
			}
		})
	}
}

func runY(t *testing.T, m *savedmodel.Model, in map[string]any) []float32 {
	t.Helper()
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return must(savedmodel.Values[float32](out, "y"))
}

// scaleFirst makes the first variable of models half of what it was.
func scaleFirst(t *testing.T, models ...*savedmodel.Model) {
	t.Helper()
	for _, m := range models {
		for _, op := range m.Graph().Operations() {
			if op.OpName() != "VarHandleOp" {
				continue
			}
			was := ops.ReadVariableOp(op.Output(0), tf.Float32)
			half := ops.Mul(was, ops.Scalar[float32](m.Graph(), 0.5))
			if _, err := m.Session().Run(t.Context(), nil, ops.AssignVariableOp(op.Output(0), half)); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// savedGraph saves a graph from x to y and returns its directory.
func savedGraph(t *testing.T, g *tf.Graph, x, y tf.Output) string {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "model")
	b := new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		savedmodel.DefaultSignature: savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}),
	}})
	if err := b.Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// results loads a model, runs it, and counts what normalizes or scales by vectors.
func results(t *testing.T, dir string, in map[string]any, o savedmodel.Options) (y []float32, norms int) {
	t.Helper()
	m, err := savedmodel.Load(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, op := range m.Graph().Operations() {
		if strings.HasPrefix(op.OpName(), "FusedBatchNorm") || op.OpName() == "Mul" && (op.Input(0).Operation().OpName() == "MatMul" || op.Input(1).Operation().OpName() == "BiasAdd") {
			norms++
		}
	}
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	y, err = savedmodel.Values[float32](out, "y")
	if err != nil {
		t.Fatal(err)
	}
	return y, norms
}
