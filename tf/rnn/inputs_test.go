package rnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// trained is a network, with the gradients of its variables and of its inputs.
type trained struct {
	g     *tf.Graph
	x     tf.Output
	out   []tf.Fetchable // outputs and states
	grads []tf.Fetchable
}

// trainedNetwork builds a network for a number of sequences that is known, so that steps compute the
// inputs' part, or not, so that it is computed before the loop.
func trainedNetwork(t *testing.T, r *rand.Rand, d tf.DType, shape tf.Shape, known bool) *trained {
	t.Helper()
	n := &trained{g: tf.NewGraph()}
	cell := map[int]rnn.Cell{0: rnn.NewBasicRNN(5), 1: rnn.NewGRU(6), 2: rnn.NewLSTM(4, rnn.LSTMOpts{Peepholes: true, Projection: 3}), 3: rnn.Multi(rnn.NewLSTM(3), rnn.NewGRU(4))}[r.IntN(4)]
	s, o := shape.Clone(), rnn.Opts{TimeMajor: r.IntN(2) == 0}
	batch := 0
	if o.TimeMajor {
		s[0], s[1], batch = s[1], s[0], 1
	}
	if r.IntN(2) == 0 {
		lengths := make([]int32, s[batch])
		for i := range lengths {
			lengths[i] = int32(r.IntN(s[1-batch] + 1))
		}
		o.Lengths = ops.Const(n.g, lengths, len(lengths))
	}
	feed := s.Clone()
	if !known {
		feed[batch] = -1
	}
	n.x = ops.Placeholder(n.g, d, feed)
	var y tf.Output
	var last rnn.State
	waves := func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		return ops.Mul(sine(g, s...).Cast(d), ops.Scalar(g, float32(0.3)).Cast(d))
	}
	vars.Scope(n.g, "net", vars.ScopeOptions{Initializer: waves}, func() { y, last = rnn.DynamicRNN(cell, n.x, o) })
	n.out = append(n.out, y)
	loss := ops.Sum(ops.Square(y), []int{0, 1, 2})
	for _, v := range last {
		n.out = append(n.out, v)
		loss = ops.AddV2(loss, ops.Sum(v, []int{0, 1}))
	}
	xs := []tf.Output{n.x}
	for _, v := range tf.Variables(n.g, tf.TrainableVariables) {
		xs = append(xs, v.Handle())
	}
	for _, dx := range must(tf.Gradients(loss, xs...)) {
		n.grads = append(n.grads, dx)
	}
	if err := n.g.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// run feeds waves.
func (n *trained) run(t *testing.T, threads int, shape tf.Shape) (out, grads [][]float64) {
	t.Helper()
	s := must(session.New(n.g, session.Threads(threads)))
	defer s.Close()
	initialize(t, s, n.g)
	x := sine(n.g, shape...).Cast(n.x.DType())
	fed := must(s.Run(t.Context(), nil, x))[0]
	values := func(f []tf.Fetchable) (all [][]float64) {
		for _, v := range must(s.Run(t.Context(), session.Feeds{n.x: fed}, f...)) {
			all = append(all, floats(v))
		}
		return all
	}
	return values(n.out), values(n.grads)
}

func floats(t *tf.Tensor) []float64 {
	if t.DType() == tf.Float64 {
		return tf.Data[float64](t)
	}
	all := make([]float64, 0, t.Shape().NumElements())
	for _, v := range tf.Data[float32](t) {
		all = append(all, float64(v))
	}
	return all
}

// TestInputsOfSteps: that steps compute the inputs' part themselves changes no bit of outputs
// and states; gradients are summed in another order, each by at most as many roundings as
// there are sequences times steps. All bits are those of any number of threads.
func TestInputsOfSteps(t *testing.T) {
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := []tf.DType{tf.Float32, tf.Float64}[r.IntN(2)]
		shape := tf.Shape{16 + r.IntN(20), 1 + r.IntN(20), 1 + r.IntN(70)}
		draw := rand.Int64()
		same := func() *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(draw))) }
		known, unknown := trainedNetwork(t, same(), d, shape, true), trainedNetwork(t, same(), d, shape, false)
		fed := known.x.Shape()
		t.Run(fmt.Sprint(seed, d, fed), func(t *testing.T) {
			out, grads := known.run(t, 1, fed)
			out2, grads2 := known.run(t, 2, fed)
			want, wantGrads := unknown.run(t, 1, fed)
			if !slices.EqualFunc(out, want, slices.Equal) {
				t.Error("outputs or states differ from those with the inputs' part computed before the loop")
			}
			if !slices.EqualFunc(out, out2, slices.Equal) || !slices.EqualFunc(grads, grads2, slices.Equal) {
				t.Error("values depend on the number of threads")
			}
			eps := map[tf.DType]float64{tf.Float32: 0x1p-23, tf.Float64: 0x1p-52}[d]
			for k := range grads {
				if far := furthest(grads[k], wantGrads[k]); !(far <= eps*float64(shape[0]*shape[1])) {
					t.Errorf("gradient %d differs by %g of its greatest element", k, far)
				}
			}
		})
	}
}

// furthest is the greatest difference of elements of a and b, measured by the greatest of b.
func furthest(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	far, most := 0.0, 0.0
	for i := range a {
		if a[i] != a[i] || b[i] != b[i] {
			return math.NaN()
		}
		far, most = max(far, math.Abs(a[i]-b[i])), max(most, math.Abs(b[i]))
	}
	if far == 0 {
		return 0
	}
	return far / most
}

// TestInputsBeforeTheLoop: with few sequences, or a number that is not known, one product is
// added before the loop, and so it is for types with few digits, of which sums in loops would
// lose some.
func TestInputsBeforeTheLoop(t *testing.T) {
	for _, c := range []struct {
		batch int
		d     tf.DType
		want  bool
	}{{16, tf.Float32, true}, {32, tf.Float64, true}, {15, tf.Float32, false}, {-1, tf.Float32, false}, {32, tf.BFloat16, false}, {32, tf.Float16, false}} {
		g := tf.NewGraph()
		rnn.DynamicRNN(rnn.NewGRU(3), ops.Placeholder(g, c.d, tf.Shape{c.batch, 5, 4}))
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		reads := 0
		for _, op := range g.Operations() {
			if op.OpName() == "TensorArrayReadV3" {
				reads++
			}
		}
		if want := map[bool]int{true: 1, false: 2}[c.want]; reads != want {
			t.Errorf("%d sequences of %v: a step reads %d values, want %d", c.batch, c.d, reads, want)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
