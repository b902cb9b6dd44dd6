package ops_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFiltersThatAreKept: convolutions with a filter that is a constant, with one that is fed, and with a variable that the
// graph calls a constant agree in many steps. The variable changes between them.
func TestFiltersThatAreKept(t *testing.T) {
	const size, in, out, steps = 10, 32, 48, 50
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32() - 0.5
		}
		return v
	}
	shape, w := tf.Shape{3, 3, in, out}, random(9*in*out)
	g := tf.NewGraph()
	x, fed := ops.Placeholder(g, tf.Float32, tf.Shape{-1, size, size, in}), ops.Placeholder(g, tf.Float32, shape)
	variable := ops.VariableV2(g, tf.Float32, shape)
	set, add := ops.Assign(variable, fed), ops.AssignAdd(variable, fed)
	conv := func(w tf.Output, opts ...tf.Option) tf.Output { return ops.Conv2D(x, w, steps1, "SAME", opts...) }
	constant, plain, forged := conv(ops.Const(g, w, shape...)), conv(fed), conv(variable, tf.Attr(core.ConstantFilter, true))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	filter := mustReshape(t, w, shape)
	run := func(feeds session.Feeds, fetches ...tf.Fetchable) []*tf.Tensor {
		feeds[fed] = filter
		got, err := s.Run(t.Context(), feeds, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	run(session.Feeds{}, set)
	for step := range steps {
		n := 1 + step%3
		image := mustReshape(t, random(n*size*size*in), tf.Shape{n, size, size, in})
		got := run(session.Feeds{x: image}, plain, constant, forged)
		sameNumbers(t, step, "constant", got[1], got[0], 1)
		sameNumbers(t, step, "variable", got[2], got[0], float32(step+1))
		run(session.Feeds{}, add)
	}
}

func mustReshape(t *testing.T, v []float32, s tf.Shape) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(v, s...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sameNumbers compares a with b times so many.
func sameNumbers(t *testing.T, step int, name string, a, b *tf.Tensor, times float32) {
	t.Helper()
	x, y := core.Data[float32]((*core.Tensor)(a)), core.Data[float32]((*core.Tensor)(b))
	for i := range x {
		if want := y[i] * times; math.Abs(float64(x[i]-want)) > 1e-4*float64(times) {
			t.Fatalf("step %d: element %d with a filter that is a %s is %v, want %v", step, i, name, x[i], want)
		}
	}
}
