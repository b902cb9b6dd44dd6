package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const largeRows, largeCols = 1030, 1025

// large is a network of two layers with weights so large that their gradients are applied
// in parts. Another node holds the first one's old value meanwhile, unless free is set.
type large struct {
	g          *tf.Graph
	x          tf.Output
	vars       []*tf.Variable
	loss       tf.Output
	step       *tf.Operation
	held, read tf.Output // the first weight, read before the step, and used after it
}

func newLarge(o train.Optimizer, gate train.Gate, free bool) *large {
	n := &large{g: tf.NewGraph()}
	n.x = ops.Placeholder(n.g, tf.Float32, tf.Shape{-1, largeRows})
	r := rand.New(rand.NewPCG(1, 2))
	for i, s := range []tf.Shape{{largeRows, largeCols}, {largeCols, largeRows}} {
		value := make([]float32, s.NumElements())
		for k := range value {
			value[k] = r.Float32()*0.1 - 0.05
		}
		n.vars = append(n.vars, tf.NewVariable(ops.Const(n.g, value, s...), tf.VariableOptions{Name: fmt.Sprint("w", i)}))
	}
	n.read = ops.Identity(n.vars[0].Value())
	h := ops.Tanh(ops.MatMul(n.x, n.vars[0].Value()))
	n.loss = ops.Sub(ops.MatMul(h, n.vars[1].Value()), n.x).Square().Mean()
	after := []*tf.Operation{n.read.Operation()}
	if free {
		after = nil
	}
	n.g.ControlDependencies(after, func() { n.step = train.Minimize(o, n.loss, train.Options{Gate: gate}) })
	n.g.ControlDependencies([]*tf.Operation{n.step}, func() { n.held = ops.Neg(ops.Neg(n.read)) })
	return n
}

// run trains for some steps and returns the losses, what was held, and the weights.
func (n *large) run(t *testing.T, threads int, free bool, disabled ...string) (out []*tf.Tensor, explained string) {
	t.Helper()
	s, err := session.New(n.g, session.With(session.Config{DisabledPasses: disabled, Threads: threads}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(n.g)); err != nil {
		t.Fatal(err)
	}
	fetches := []tf.Fetchable{n.loss, n.step}
	if !free {
		fetches = append(fetches, n.held)
	}
	c, err := s.MakeCallable([]tf.Output{n.x}, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	x := core.NewTensor(tf.Float32, tf.Shape{3, largeRows})
	for i := range core.Data[float32](x) {
		core.Data[float32](x)[i] = float32(i%7) - 3
	}
	for range 3 {
		got, err := c.Run(t.Context(), (*tf.Tensor)(x))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, got...)
	}
	for _, v := range n.vars {
		w, err := s.Run(t.Context(), nil, v.Read())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w...)
	}
	if explained, err = c.Explain(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out, explained
}

// TestGradientsInParts: weights whose gradients are applied as they are computed are those
// of whole gradients, bit for bit, by whatever optimizer, gate and number of threads, and
// a value that is held does not change.
func TestGradientsInParts(t *testing.T) {
	optimizers := []train.Optimizer{
		train.GradientDescent{LearningRate: 0.1}, train.Momentum{LearningRate: 0.1, Momentum: 0.9}, train.Momentum{LearningRate: 0.1, Momentum: 0.9, Nesterov: true},
		train.Adam{LearningRate: 0.01}, train.Adagrad{LearningRate: 0.1}, train.RMSProp{LearningRate: 0.01}, train.Adadelta{LearningRate: 0.5}, train.FTRL{LearningRate: 0.1},
	}
	for i, o := range optimizers {
		free, gate, threads := i%2 == 0, train.Gate(i%3), 1+i%2
		n := newLarge(o, gate, free)
		if err := n.g.Err(); err != nil {
			t.Fatal(err)
		}
		want, _ := n.run(t, 1, free, "fusion")
		got, explained := n.run(t, threads, free)
		for k := range want {
			if !core.TensorsEqual((*core.Tensor)(want[k]), (*core.Tensor)(got[k])) {
				t.Errorf("%T, gate %d, %d threads, held %v: result %d differs", o, gate, threads, !free, k)
			}
		}
		if fused := strings.Count(explained, "= MatMul\n"); runtime.GOARCH == "amd64" && gate != train.GateGraph && fused == 0 {
			t.Errorf("%T, gate %d: no gradient is applied in parts:\n%s", o, gate, explained)
		}
	}
}

// TestGradientInPartsWithoutVariable: the error names the optimizer's node and line, as if
// the gradient had been there as a whole.
func TestGradientInPartsWithoutVariable(t *testing.T) {
	n := newLarge(train.GradientDescent{LearningRate: 0.1}, train.GateNone, true)
	x := ops.Const(n.g, make([]float32, 2*largeRows), 2, largeRows)
	slot := tf.NewVariable(ops.Const(n.g, make([]float32, largeRows*largeCols), largeRows, largeCols), tf.VariableOptions{Name: "never"})
	y := ops.MatMul(x, ops.Const(n.g, make([]float32, 2*largeCols), 2, largeCols), ops.MatMulOpts{TransposeA: true})
	step, err := train.GradientDescent{LearningRate: 0.1}.ApplyGradients([]train.GradVar{{Grad: tf.Dense(y), Var: slot}})
	if err != nil {
		t.Fatal(err)
	}
	messages := map[string]bool{}
	for _, disabled := range [][]string{{"constant_folding"}, {"constant_folding", "fusion"}} {
		s, err := session.New(n.g, session.With(session.Config{DisabledPasses: disabled}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), nil, step)
		s.Close()
		if err == nil || !strings.Contains(err.Error(), "never") {
			t.Fatalf("the error is %v", err)
		}
		messages[err.Error()] = true
	}
	if len(messages) != 1 {
		t.Errorf("errors differ: %v", messages)
	}
}
