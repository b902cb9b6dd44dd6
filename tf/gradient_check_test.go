package tf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// custom is x with a gradient that grad gives.
func custom(x tf.Output, grad func(dys []tf.Output) []tf.Output) tf.Output {
	return tf.CustomGradient([]tf.Output{x}, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
		return []tf.Output{mul(xs[0], xs[0])}, grad
	})[0]
}

// wrongGradients are what a function must not return as the gradient of a float64 [2].
var wrongGradients = map[string]func(dys []tf.Output) []tf.Output{
	"Incompatible shapes between op input and calculated input gradient. Forward operation: IdentityN. Input index: 1. Original input shape: [2]. Calculated input gradient shape: [3]": func(dys []tf.Output) []tf.Output {
		return []tf.Output{vec(dys[0].Graph(), 1, 2, 3)}
	},
	"Incompatible types between op input and calculated input gradient. Forward operation: IdentityN. Input index: 1. Original input type: float64. Calculated input gradient type: float32": func(dys []tf.Output) []tf.Output {
		return []tf.Output{dys[0].Cast(tf.Float32)}
	},
	"Original input type: float64. Calculated input gradient type: int32": func(dys []tf.Output) []tf.Output {
		return []tf.Output{dys[0].Cast(tf.Int32)}
	},
	"inputs must belong to one graph": func([]tf.Output) []tf.Output { return []tf.Output{vec(tf.NewGraph(), 1, 2)} },
	"expected to return 1 gradients, but returned 0": func([]tf.Output) []tf.Output {
		return nil
	},
	"expected to return 1 gradients, but returned 2": func(dys []tf.Output) []tf.Output {
		return []tf.Output{dys[0], dys[0]}
	},
}

// TestWrongCustomGradients: a gradient that does not fit is told with the program's line.
func TestWrongCustomGradients(t *testing.T) {
	for want, grad := range wrongGradients {
		g := tf.NewGraph()
		x := vec(g, 1, 2)
		y := custom(x, grad)
		_, err := tf.Gradients(y, x)
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "gradient_check_test.go:") {
			t.Errorf("graph: got %v, want %q", err, want)
		}
		g = eager.New()
		x = vec(g, 1, 2)
		tape := eager.Record(g, func() { y = custom(x, grad) })
		_, err = tape.Gradients(y, x)
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "gradient_check_test.go:") {
			t.Errorf("eager: got %v, want %q", err, want)
		}
	}
}

// TestWrongGradientNamesTheForwardLine: in a graph, which knows it.
func TestWrongGradientNamesTheForwardLine(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1, 2)
	var y tf.Output
	at := ""
	g.GradientOverrideMap(map[string]tf.GradFunc{"Identity": func(*tf.Operation, []tf.Output) []tf.Gradient { return tf.Grads(vec(g, 1)) }}, func() {
		at = line(1)
		y = tf.Apply(g, "Identity", []tf.Output{x}).Output(0)
	})
	_, err := tf.Gradients(y, x)
	if err == nil || !strings.HasPrefix(err.Error(), at+`: Identity "Identity"(`) || !strings.Contains(err.Error(), "Incompatible shapes") {
		t.Errorf("got %v, want it at %s", err, at)
	}
	at = line(1)
	y = tf.Apply(g, "TestNoGradient", []tf.Output{x}).Output(0)
	if _, err := tf.Gradients(y, x); err == nil || !strings.HasPrefix(err.Error(), at+`: TestNoGradient "TestNoGradient"(`) {
		t.Errorf("got %v, want it at %s", err, at)
	}
}

// TestWrongNumberOfGradients: what a function of the program returns is the program's mistake.
func TestWrongNumberOfGradients(t *testing.T) {
	for n := range 4 {
		for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
			x := vec(g, 1)
			var y tf.Output
			give := func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
				return tf.Grads(dy[0], dy[0], dy[0])[:n]
			}
			tape := g.Record(func() {
				g.GradientOverrideMap(map[string]tf.GradFunc{"Mul": give}, func() { y = mul(x, x) })
			})
			gradients := tape.Gradients
			if !g.IsEager() {
				gradients = tf.Gradients
			}
			_, err := gradients(y, x)
			want := fmt.Sprintf("Num gradients %d generated for op", n)
			if n != 2 && (tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want)) || n == 2 && err != nil {
				t.Errorf("%s, %d gradients: %v, want %q", name, n, err, want)
			}
		}
	}
}

// TestCustomGradientOfIntegers: what has no gradient may get any that says so.
func TestCustomGradientOfIntegers(t *testing.T) {
	g := tf.NewGraph()
	x, n := vec(g, 1, 2), int32s(g, 3)
	for _, dn := range []tf.Output{{}, n, constant(g, tf.Scalar(0.5))} {
		y := tf.CustomGradient([]tf.Output{x, n}, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			return []tf.Output{mul(xs[0], xs[0])}, func(dys []tf.Output) []tf.Output { return []tf.Output{dys[0], dn} }
		})[0]
		if _, err := tf.Gradients(y, x); err != nil {
			t.Errorf("with %v: %v", dn, err)
		}
	}
}

// TestCustomGradientOfNothing: without its gradient a function is refused, and has as
// many results as it has returned.
func TestCustomGradientOfNothing(t *testing.T) {
	for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		for want, y := range map[string]tf.Output{"got nil": vec(g, 1), "is the zero Output": {}} {
			out := tf.CustomGradient([]tf.Output{vec(g, 1)}, func([]tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
				if y.IsZero() {
					return []tf.Output{y, y}, func(dys []tf.Output) []tf.Output { return dys[:1] }
				}
				return []tf.Output{y, y}, nil
			})
			if len(out) != 2 || tf.CodeOf(out[1].Err()) != tf.InvalidArgument || !strings.Contains(out[1].Err().Error(), want) {
				t.Errorf("%s: %d results, %v, want %q", name, len(out), out[0].Err(), want)
			}
		}
	}
}

// TestGradientOverrideMapOnATape: eager graphs know overrides, too.
func TestGradientOverrideMapOnATape(t *testing.T) {
	g := eager.New()
	x := vec(g, 2)
	var y tf.Output
	tape := eager.Record(g, func() {
		g.GradientOverrideMap(map[string]tf.GradFunc{"Mul": func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
			return tf.Grads(dy[0], tf.Output{})
		}}, func() { y = mul(x, x) })
		y = add(y, mul(x, x))
	})
	gs, err := tape.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gs[0].Value()
	if err != nil || tf.Data[float64](got)[0] != 1+4 {
		t.Errorf("got %v, %v", got, err)
	}
}

func init() {
	for name, how := range map[string]core.NoGrad{"TestConstantStep": core.NotDifferentiable, "TestStep": core.NoGradientDefined} {
		core.Register(core.OpDef{
			Name: name, In: "x: double", Out: "y: double", NoGrad: how,
			Shape: func(c *core.Infer) error { c.Set(0, c.In(0)); return nil },
			Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
				return core.Compute(func(c *core.OpContext) error { c.Forward(0, 0); return nil }), nil
			}),
		})
	}
}

// TestOverridesOfOpsWithoutGradient: a function of the program's counts also where the op
// has no gradient, or none that flows: so gradients go straight through a rounding.
func TestOverridesOfOpsWithoutGradient(t *testing.T) {
	through := func(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy[0]) }
	for _, op := range []string{"Round", "Sign", "TestConstantStep", "TestStep"} {
		for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
			x := vec(g, 1.4, -2.6)
			var y tf.Output
			tape := g.Record(func() {
				g.GradientOverrideMap(map[string]tf.GradFunc{op: through}, func() { y = tf.Apply(g, op, []tf.Output{x}).Output(0) })
				y = mul(y, vec(g, 3, 5))
			})
			gradients := tape.Gradients
			if !g.IsEager() {
				gradients = tf.Gradients
			}
			gs, err := gradients(y, x)
			if err != nil {
				t.Errorf("%s, %s: %v", op, name, err)
				continue
			}
			tftest.Elements(t, valueOf(t, gs[0]), []float64{3, 5})
		}
	}
}

// valueOf computes x.
func valueOf(t *testing.T, x tf.Output) *tf.Tensor {
	t.Helper()
	if !x.Graph().IsEager() {
		return run(t, x.Graph(), x)[0]
	}
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
