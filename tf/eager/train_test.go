package eager_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestTrainingInFunctions: a whole step of training in a function makes of the variables
// what it makes of them outside, however it takes gradients. The first call makes the
// layer's variables and those of the optimizer.
func TestTrainingInFunctions(t *testing.T) {
	apply := func(o train.Optimizer, gvs []train.GradVar, err error) error {
		if err == nil {
			_, err = o.ApplyGradients(gvs)
		}
		return err
	}
	for name, step := range map[string]func(g *tf.Graph, o train.Optimizer, loss func() tf.Output) error{
		"Minimize": func(_ *tf.Graph, o train.Optimizer, loss func() tf.Output) error {
			return train.Minimize(o, loss(), train.Options{}).Err()
		},
		"ComputeGradients": func(g *tf.Graph, o train.Optimizer, loss func() tf.Output) error {
			l := loss()
			gvs, err := train.ComputeGradients(l, tf.Variables(g, tf.TrainableVariables)...)
			return apply(o, gvs, err)
		},
		"tape": func(g *tf.Graph, o train.Optimizer, loss func() tf.Output) error {
			var l tf.Output
			tape := eager.Record(g, func() { l = loss() })
			gvs, err := train.TapeGradients(tape, l)
			return apply(o, gvs, err)
		},
	} {
		for _, o := range []train.Optimizer{train.GradientDescent{LearningRate: 0.1}, train.Adam{LearningRate: 0.1}, train.Momentum{LearningRate: 0.1, Momentum: 0.9}} {
			want, got := trained(t, o, nil), trained(t, o, step)
			if len(want) != len(got) {
				t.Fatalf("%s, %T: %d variables, want %d", name, o, len(got), len(want))
			}
			for i := range want {
				if !tftest.Equal(t, got[i], want[i], tftest.Within(1e-5, 1e-6)) {
					t.Errorf("%s, %T: variable %d", name, o, i)
				}
			}
		}
	}
}

// trained returns the variables that three steps make: in a function by step, or as
// programs without functions have it.
func trained(t *testing.T, o train.Optimizer, step func(*tf.Graph, train.Optimizer, func() tf.Output) error) (out []*tf.Tensor) {
	t.Helper()
	g := eager.New()
	g.SetSeed(1)
	unused := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "unused"})
	d := layers.NewDense(2, layers.DenseOpts{KernelInitializer: initializers.Ones})
	loss := func(x tf.Output) tf.Output { return d.Apply(x).Square().Sum() }
	f := eager.NewFunc(g, "step", func(args []tf.Output, _ ...any) []tf.Output {
		var l tf.Output
		if err := step(g, o, func() tf.Output { l = loss(args[0]); return l }); err != nil {
			t.Fatal(err)
		}
		return []tf.Output{l}
	})
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for range 3 {
		if step != nil {
			value(t, f.Call([]tf.Output{x})[0])
			continue
		}
		var l tf.Output
		tape := eager.Record(g, func() { l = loss(x) })
		gvs, err := train.TapeGradients(tape, l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.ApplyGradients(gvs); err != nil {
			t.Fatal(err)
		}
	}
	if step != nil && f.Traces() != 1 {
		t.Errorf("%d traces", f.Traces())
	}
	for _, v := range append(d.Variables(), unused) {
		out = append(out, value(t, v.Value()))
	}
	return out
}

// TestStoppedInFunctions: what is added while recording is stopped counts as constant in a
// function as well, for tapes in it and around its call.
func TestStoppedInFunctions(t *testing.T) {
	g := eager.New()
	x := ops.Scalar(g, float32(3))
	use := func(x tf.Output) (y tf.Output) {
		g.StopRecording(func() { y = x.Mul(x) })
		return y.Mul(x) // x²·x, of which x² is constant
	}
	inside := eager.NewFunc(g, "inside", func(args []tf.Output, _ ...any) []tf.Output {
		var y tf.Output
		tape := eager.Record(g, func() { y = use(args[0]) })
		d, err := tape.Gradients(y, args[0])
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
	tftest.Elements(t, value(t, inside.Call([]tf.Output{x})[0]), []float32{9})
	around := eager.NewFunc(g, "around", func(args []tf.Output, _ ...any) []tf.Output { return []tf.Output{use(args[0])} })
	var y tf.Output
	tape := eager.Record(g, func() { y = around.Call([]tf.Output{x})[0] })
	d, err := tape.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, value(t, d[0]), []float32{9})
}
