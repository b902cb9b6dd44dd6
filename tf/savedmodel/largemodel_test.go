package savedmodel_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// asLarge lets models of any size take the way of large ones until the test ends.
func asLarge(t *testing.T) {
	t.Helper()
	before := memory.SetMuch(1)
	t.Cleanup(func() { memory.SetMuch(before) })
}

// convolving saves a model of convolutions in a function, whose filters are variables, with two signatures that
// read them and one that doubles them.
func convolving(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	g := tf.NewGraph()
	variable := func(name string, shape ...int) *tf.Variable {
		data := make([]float32, tf.Shape(shape).NumElements())
		for i := range data {
			data[i] = float32(r.NormFloat64()) / 8
		}
		return tf.NewVariable(ops.Const(g, data, shape...), tf.VariableOptions{Name: name})
	}
	layer := tf.NewFunction(g, "layer", []tf.ArgSpec{{Name: "x", DType: tf.Float32}, {Name: "w", DType: tf.Float32}, {Name: "b", DType: tf.Float32}}, func(a []tf.Output) []tf.Output {
		return []tf.Output{ops.Relu(ops.BiasAdd(ops.Conv2D(a[0], a[1], []int{1, 1, 1, 1}, "SAME"), a[2]))}
	})
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 16, 16, 8}, tf.Name("x"))
	first, second, bias := variable("first", 3, 3, 8, 32), variable("second", 3, 3, 32, 32), variable("bias", 32)
	h := layer.Call([]tf.Output{x, first.Read(), bias.Read()})[0]
	y := layer.Call([]tf.Output{h, second.Read(), bias.Read()})[0]
	sum := ops.Sum(y, []int{1, 2, 3})
	doubled := ops.Shape(x)
	g.ControlDependencies([]*tf.Operation{second.AssignAdd(second.Read())}, func() { doubled = ops.Identity(doubled) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir, in := filepath.Join(t.TempDir(), "m"), map[string]tf.Output{"x": x}
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		"serving_default": savedmodel.Predict(in, map[string]tf.Output{"y": y}),
		"sum":             savedmodel.Predict(in, map[string]tf.Output{"y": sum}),
		"double":          savedmodel.Predict(in, map[string]tf.Output{"y": doubled}),
	}}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// images are what the model of convolving takes.
func images() map[string]any {
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, 2*16*16*8)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	t, _ := tf.FromSlice(x, 2, 16, 16, 8)
	return map[string]any{"x": t}
}

// nearly reports whether x is y but for what another order of sums rounds.
func nearly(x, y []float32) bool {
	return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-4*(1+math.Abs(float64(b))) })
}

// signaturesAtOnce runs the signatures that read from many goroutines, often enough that all is kept that may be, beside
// others that ask for the MetaGraph, and returns what they give. All runs have to give the same.
func signaturesAtOnce(t *testing.T, m *savedmodel.Model, in map[string]any) map[string][]float32 {
	t.Helper()
	const clients, runs = 8, 12
	var all sync.WaitGroup
	var mu sync.Mutex
	out := map[string][]float32{}
	for range clients {
		all.Go(func() {
			for i := range runs {
				name := []string{"serving_default", "sum"}[i%2]
				got, err := m.Signature(name).Run(t.Context(), in)
				if err != nil {
					t.Error(err)
					return
				}
				if n := len(m.MetaGraph().GetSignatureDef()); n != 3 {
					t.Errorf("the MetaGraph has %d signatures", n)
				}
				y := tf.Data[float32](got["y"])
				mu.Lock()
				if was, ok := out[name]; ok && !nearly(y, was) {
					t.Errorf("%s: runs give different results", name)
				}
				out[name] = y
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return out
}

// TestLargeModel: a model that takes the way of large ones gives what it gives otherwise, from many goroutines, before and
// after its variables change: encoded functions, plans that are forgotten, no points that are kept.
func TestLargeModel(t *testing.T) {
	dir, in := convolving(t), images()
	results := func(t *testing.T) (before, after map[string][]float32) {
		m := load(t, dir)
		before = signaturesAtOnce(t, m, in)
		if _, err := m.Signature("double").Run(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return before, signaturesAtOnce(t, m, in)
	}
	before, after := results(t)
	if nearly(before["sum"], after["sum"]) {
		t.Fatal("other variables must give other results")
	}
	asLarge(t)
	gotBefore, gotAfter := results(t)
	if !maps.EqualFunc(gotBefore, before, nearly) || !maps.EqualFunc(gotAfter, after, nearly) {
		t.Error("as a large model it gives something else")
	}
}

// TestLargeObjects: so does a model whose variables only the graph of objects finds; it can be saved again.
func TestLargeObjects(t *testing.T) {
	asLarge(t)
	TestObjects(t)
}

// TestLargeFreeze: and one with a loop, which is frozen after it has been run.
func TestLargeFreeze(t *testing.T) {
	asLarge(t)
	TestFreeze(t)
}
