package fuse_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A twoGradients is a product whose gradients, for a variable and for what it is multiplied to,
// wait for each other.
type twoGradients struct {
	g      *tf.Graph
	x      tf.Output // which is fed
	v      *tf.Variable
	dw, dx tf.Output
}

func newTwoGradients() *twoGradients {
	g := tf.NewGraph()
	b := &twoGradients{g: g, x: ops.Placeholder(g, tf.Float32, tf.Shape{4, 128})}
	b.v = tf.NewVariable(ops.ConstTensor(g, ramp(tf.Shape{128, 128})), tf.VariableOptions{})
	in, w := ops.EnsureShape(b.x, tf.Shape{4, 128}), b.v.Value()
	d := gated(ops.Sum(ops.Square(ops.MatMul(in, w)), []int{0, 1}), w, in)
	b.dw, b.dx = d[0].Output(), d[1].Output()
	return b
}

// update returns what applies the gradient of the variable at a rate.
func (b *twoGradients) update(rate tf.Output) (op *tf.Operation) {
	b.g.Device("/cpu:0", func() {
		op = tf.Apply(nil, "ResourceApplyGradientDescent", []tf.Output{b.v.Handle(), rate, b.dw})
	})
	return op
}

// applied is what reports say of a gradient that is applied as it is computed.
const applied = " = ResourceApplyGradientDescent"

var thrifty = session.Config{SaveMemory: true, DisabledPasses: []string{"row_blocks"}, Devices: map[string]int{"CPU": 2}}

// TestRateOfOtherGradient: a gradient that another one waits for is not applied as it is computed
// where the rate comes from another device, on which it may follow from the other gradient.
func TestRateOfOtherGradient(t *testing.T) {
	for _, far := range []bool{false, true} {
		b := newTwoGradients()
		rate := ops.Scalar[float32](b.g, 0.5)
		if far {
			b.g.Device("/cpu:1", func() { rate = ops.Reciprocal(ops.Sum(ops.Square(b.dx), []int{0, 1})) })
		}
		s := must(session.New(b.g, session.With(thrifty)))
		defer s.Close()
		must(s.Run(t.Context(), nil, tf.InitializeAll(b.g)))
		c := must(s.MakeCallable([]tf.Output{b.x}, b.update(rate), b.dx))
		text := must(c.Explain(t.Context()))
		if in := strings.Contains(text, applied); in == far && (in || runtime.GOARCH == "amd64") {
			t.Fatalf("the rate is from another device: %v; the gradient is applied as it is computed: %v\n%s", far, in, text)
		}
		must(c.Run(t.Context(), ramp(tf.Shape{4, 128})))
	}
}

// TestRateFedLater: nor where the rate may be fed after the other gradient was fetched.
func TestRateFedLater(t *testing.T) {
	b := newTwoGradients()
	rate := ops.Placeholder(b.g, tf.Float32, tf.Shape{})
	var done tf.Output
	b.g.ControlDependencies([]*tf.Operation{b.update(rate)}, func() { done = ops.Scalar[float32](b.g, 1) })
	var log bytes.Buffer
	c := thrifty
	c.LogFusion, c.Log = true, slog.NewTextHandler(&log, nil)
	s := must(session.New(b.g, session.With(c)))
	defer s.Close()
	must(s.Run(t.Context(), nil, tf.InitializeAll(b.g)))
	p := must(s.PartialRun(t.Context(), []tf.Output{b.x, rate}, b.dx, done))
	defer p.Close()
	if strings.Contains(log.String(), applied) {
		t.Fatal("the other gradient waits for the rate")
	}
	must(p.Run(t.Context(), session.Feeds{b.x: ramp(tf.Shape{4, 128})}, b.dx))
	must(p.Run(t.Context(), session.Feeds{rate: tf.Scalar[float32](0.5)}, done))
}

// TestUpdateInBranch: nor where the update is in a branch and the gradients are not.
func TestUpdateInBranch(t *testing.T) {
	b := newTwoGradients()
	p := ops.Placeholder(b.g, tf.Bool, tf.Shape{})
	_, on := ops.Switch(p, p)
	var update *tf.Operation
	b.g.ControlDependencies([]*tf.Operation{ops.Identity(on).Operation()}, func() { update = b.update(ops.Scalar[float32](b.g, 0.5)) })
	s := must(session.New(b.g, session.With(thrifty)))
	defer s.Close()
	must(s.Run(t.Context(), nil, tf.InitializeAll(b.g)))
	for _, taken := range []bool{true, false} {
		if _, err := s.Run(t.Context(), session.Feeds{b.x: ramp(tf.Shape{4, 128}), p: tf.Scalar(taken)}, b.dx, update); err != nil {
			t.Errorf("branch taken: %v: %v", taken, err)
		}
	}
}

// TestSumsWithBranches: a product that waits for others is added to what a branch gives. The others
// are alive if that is dead, and may come before it.
func TestSumsWithBranches(t *testing.T) {
	s := tf.Shape{8, 8}
	for _, behind := range []bool{false, true} {
		g := tf.NewGraph()
		a, z, p := ops.Placeholder(g, tf.Float32, s), ops.Placeholder(g, tf.Float32, s), ops.Placeholder(g, tf.Bool, tf.Shape{})
		x, y := ops.MatMul(a, ops.Sin(a)), ops.MatMul(ops.Sin(a), a)
		group := tf.Group(g, "", x.Operation(), y.Operation())
		var held []tf.Output
		g.ControlDependencies([]*tf.Operation{group}, func() { held = []tf.Output{ops.Identity(x), ops.Identity(y)} })
		data := z
		if behind {
			data = ops.AddV2(z, ops.Neg(held[1]))
		}
		no, yes := ops.Switch(data, p)
		merged, _ := ops.Merge([]tf.Output{no, ops.AddV2(held[0], yes)})
		for _, taken := range []bool{true, false} {
			t.Run(fmt.Sprint(behind, taken), func(t *testing.T) {
				compare(t, g, session.Feeds{a: ramp(s), z: ramp(s), p: tf.Scalar(taken)}, []tf.Fetchable{merged, held[1]})
			})
		}
	}
}

// TestSumsThatWaitForOthers: in a loop such a sum may wait for another of the group's gradients by
// itself.
func TestSumsThatWaitForOthers(t *testing.T) {
	g, s := tf.NewGraph(), tf.Shape{8, 8}
	x := ops.Placeholder(g, tf.Float32, s)
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x, x}, below(g, 3), func(v []tf.Output) []tf.Output {
		a, b := ops.MatMul(v[1], ops.Sin(v[1])), ops.MatMul(ops.Cos(v[1]), v[1])
		group := tf.Group(g, "", a.Operation(), b.Operation())
		var held, sum tf.Output
		g.ControlDependencies([]*tf.Operation{group}, func() { held, a = ops.Identity(b), ops.Identity(a) })
		g.ControlDependencies([]*tf.Operation{held.Operation()}, func() { sum = ops.AddV2(a, v[2]) })
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.Tanh(held), sum}
	})
	compare(t, g, session.Feeds{x: ramp(s)}, []tf.Fetchable{end[1], end[2]})
}
