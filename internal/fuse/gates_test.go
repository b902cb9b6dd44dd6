package fuse_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// gated returns gradients as optimizers ask for them: those of an operation wait for
// each other.
func gated(y tf.Output, xs ...tf.Output) []tf.Gradient {
	return must(tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{y}, Xs: xs, Gate: true}))
}

// TestGatesOpen: a gradient that waits for what others were computed from, which nothing
// needs, joins the cluster of its users: the backward pass of an activation is one.
func TestGatesOpen(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{100, 64})
	n := func(f float32) tf.Output { return ops.Scalar(g, f) }
	w := ops.Placeholder(g, tf.Float32, tf.Shape{64, 64})
	h := ops.MatMul(x, w)
	cube := ops.Mul(ops.Mul(h, h), h)
	y := ops.Mul(ops.Mul(n(0.5), h), ops.AddV2(n(1), ops.Tanh(ops.Mul(n(float32(math.Sqrt(2/math.Pi))), ops.AddV2(h, ops.Mul(n(0.044715), cube))))))
	dw := gated(ops.Sum(ops.Square(ops.MatMul(y, w)), []int{0, 1}), w)[0].Output()
	feeds := session.Feeds{x: vectorOf(100, 64), w: vectorOf(64, 64)}
	text := explain(t, g, feeds, dw)
	if n := strings.Count(text, "/fused: "); n != 3 {
		t.Errorf("%d clusters, want those of the activation, of its gradient and of the loss's:\n%s", n, text)
	}
	compare(t, g, feeds, []tf.Fetchable{dw})
}

// vectorOf returns a matrix of small numbers.
func vectorOf(rows, columns int) *tf.Tensor {
	v := make([]float32, rows*columns)
	for i := range v {
		v[i] = float32(i*i%37)/37 - 0.5
	}
	return must(tf.FromSlice(v, rows, columns))
}

// TestGatedGradientsAtRandom compares gradients of programs drawn at random.
func TestGatedGradientsAtRandom(t *testing.T) {
	for seed := range uint64(seeds / 3) {
		p := newSimple(seed)
		var xs []tf.Output
		for x := range p.feeds {
			if x.DType() == tf.Float32 {
				xs = append(xs, x)
			}
		}
		var fetches []tf.Fetchable
		for _, d := range gated(p.recent(), xs...) {
			if !d.IsZero() {
				fetches = append(fetches, d.Output())
			}
		}
		if p.g.Err() != nil || len(fetches) == 0 {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, p.g, p.feeds, append(fetches, p.fetches()...)) })
	}
}

// TestGatesHoldBack: what follows from a value that waits for an update sees the update.
func TestGatesHoldBack(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}, 3), tf.VariableOptions{Name: "v"})
	var y, after tf.Output
	g.ControlDependencies([]*tf.Operation{ops.AssignAddVariableOp(v.Handle(), ops.Exp(x))}, func() { y = ops.Identity(ops.Neg(x)) })
	z := ops.Square(y)
	g.ControlDependencies([]*tf.Operation{z.Operation()}, func() { after = ops.ReadVariableOp(v.Handle(), tf.Float32) })
	s := must(session.New(g))
	defer s.Close()
	must(s.Run(t.Context(), nil, tf.InitializeAll(g)))
	for k := 1; k < 4; k++ {
		out := must(s.Run(t.Context(), session.Feeds{x: vector(0, 0, 0)}, after, ops.Neg(z)))
		if got := tf.Data[float32](out[0])[0]; got != float32(1+k) {
			t.Errorf("step %d reads %v, want what the update has left, %d", k, got, 1+k)
		}
	}
}

// TestGatesHoldBackBranches: what waits for such a value, and does not read it, waits for what
// the value is made of: in a branch that is not taken it does not run.
func TestGatesHoldBackBranches(t *testing.T) {
	g := tf.NewGraph()
	x, p := ops.Placeholder(g, tf.Float32, tf.Shape{3}), ops.Placeholder(g, tf.Bool, tf.Shape{})
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}, 3), tf.VariableOptions{Name: "v"})
	count := tf.NewVariable(ops.Const(g, []float32{0, 0, 0}, 3), tf.VariableOptions{Name: "count"})
	seven := ops.Const(g, []float32{7, 7, 7}, 3)
	no, yes := ops.Switch(x, p)
	exp := ops.Exp(yes)
	var gate tf.Output
	var set *tf.Operation
	g.ControlDependencies([]*tf.Operation{ops.AssignAddVariableOp(count.Handle(), seven)}, func() { gate = ops.Identity(exp) })
	g.ControlDependencies([]*tf.Operation{gate.Operation()}, func() { set = ops.AssignVariableOp(v.Handle(), seven) })
	merged, _ := ops.Merge([]tf.Output{no, ops.Neg(gate)})
	s := must(session.New(g))
	defer s.Close()
	must(s.Run(t.Context(), nil, tf.InitializeAll(g)))
	for _, c := range []struct {
		taken bool
		want  float32
	}{{false, 1}, {true, 7}} {
		must(s.Run(t.Context(), session.Feeds{x: vector(0, 0, 0), p: tf.Scalar(c.taken)}, merged, set))
		out := must(s.Run(t.Context(), nil, ops.ReadVariableOp(v.Handle(), tf.Float32)))
		if got := tf.Data[float32](out[0])[0]; got != c.want {
			t.Errorf("branch taken: %v: the variable is %v, want %v", c.taken, got, c.want)
		}
	}
}
