package tf_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// fn traces f without arguments.
func fn(g *tf.Graph, f func() tf.Output) *tf.Function { return tf.NewFunction(g, "f", nil, give(f)) }

// functional are functions of x and w by operations that call functions, and as
// Go computes them.
var functional = map[string]struct {
	graph func(g *tf.Graph, x, w tf.Output) tf.Output
	value func(x, w float64) float64
}{
	"case": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			branches := []*tf.Function{fn(g, func() tf.Output { return x }), fn(g, func() tf.Output { return mul(apply("Exp", mul(x, w)), w) }), fn(g, func() tf.Output { return w })}
			return ops.StatelessCase(int32s(g, 1), nil, branches)[0]
		},
		func(x, w float64) float64 { return math.Exp(x*w) * w },
	},
	"one function in both branches": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			f := fn(g, func() tf.Output { return apply("Exp", mul(x, w)) })
			return ops.If(constant(g, tf.Scalar(false)), nil, f, f)[0]
		},
		func(x, w float64) float64 { return math.Exp(x * w) },
	},
	"one function called twice": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			f := tf.NewFunction(g, "f", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return mul(apply("Exp", x), w) }))
			return f.Call(f.Call([]tf.Output{x}))[0]
		},
		func(x, w float64) float64 { return math.Exp(math.Exp(x)*w) * w },
	},
	"a branch in an old loop": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			return repeat(3, x, func(i, y tf.Output) tf.Output {
				some := fn(g, func() tf.Output { return mul(apply("Sin", y), w) })
				return ops.If(apply("Less", i, int32s(g, 2)), nil, some, fn(g, func() tf.Output { return y }))[0]
			})
		},
		func(x, w float64) float64 { return math.Sin(math.Sin(x)*w) * w },
	},
	"a loop in a call in a loop": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			inner := tf.NewFunction(g, "inner", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return power(2, apply("Sin", x), w) }))
			return tf.NewFunction(g, "outer", tf.SpecOf(x), list(func(x tf.Output) tf.Output {
				return repeat(2, x, func(_, y tf.Output) tf.Output { return inner.Call([]tf.Output{y})[0] })
			})).Call([]tf.Output{x})[0]
		},
		func(x, w float64) float64 { return math.Sin(math.Sin(x)*w*w) * w * w },
	},
	"a loop that does not count": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			hundred := constant(g, tf.Scalar(100.0))
			cond := tf.NewFunction(g, "cond", tf.SpecOf(x), list(func(x tf.Output) tf.Output {
				return apply("Less", apply("Sum", x, int32s(g, 0)), hundred)
			}))
			body := tf.NewFunction(g, "body", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return add(mul(x, x), w) }))
			return ops.While([]tf.Output{x}, cond, body)[0]
		},
		func(x, w float64) float64 {
			for range 3 { // by the time the sum over 0.5 and 1.5 is more than 100
				x = x*x + w
			}
			return x
		},
	},
	"a loop of which nothing is used but one": {
		func(g *tf.Graph, x, w tf.Output) tf.Output {
			vars := []tf.Output{int32s(g, 0), x, w}
			cond := tf.NewFunction(g, "cond", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output { return []tf.Output{apply("Less", v[0], int32s(g, 3))} })
			body := tf.NewFunction(g, "body", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output {
				return []tf.Output{apply("AddV2", v[0], int32s(g, 1)), mul(v[1], v[2]), mul(v[2], x)}
			})
			return ops.While(vars, cond, body, ops.WhileOpts{ParallelIterations: 1})[1]
		},
		func(x, w float64) float64 { return x * w * (w * x) * (w * x * x) },
	},
}

func TestGradientsOfCalls(t *testing.T) {
	xs, ws := []float64{0.5, 1.5}, []float64{1.25, 0.75}
	for name, c := range functional {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			x, w := vec(g, xs...), vec(g, ws...)
			y := c.graph(g, x, w)
			for range 2 { // the second time operations hand out what gradients need
				gs, err := tf.Gradients(y, x, w)
				if err != nil {
					t.Fatal(err)
				}
				got := run(t, g, y, gs[0], gs[1])
				for i := range xs {
					near(t, "y", tf.Data[float64](got[0])[i], c.value(xs[i], ws[i]))
					near(t, "dx", tf.Data[float64](got[1])[i], slope(func(x float64) float64 { return c.value(x, ws[i]) }, xs[i]))
					near(t, "dw", tf.Data[float64](got[2])[i], slope(func(w float64) float64 { return c.value(xs[i], w) }, ws[i]))
				}
			}
		})
	}
}

// TestGradientsOfGrowingLoops: what goes around changes its shape.
func TestGradientsOfGrowingLoops(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2)
	f := tf.NewFunction(g, "f", tf.SpecOf(x), list(func(x tf.Output) tf.Output {
		return repeat(3, x, func(_, y tf.Output) tf.Output { return apply("ConcatV2", y, mul(y, y), int32s(g, 0)) }, tf.WhileOpts{ShapeInvariants: []tf.Shape{{}, {-1}}})
	}))
	y := f.Call([]tf.Output{x})[0]
	gs, err := tf.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, g, y, gs[0])
	tftest.Elements(t, got[0], []float64{2, 4, 4, 16, 4, 16, 16, 256})
	tftest.Elements(t, got[1], []float64{1 + 3*4 + 3*8*4 + 8*math.Pow(2, 7)}) // x + 3x^2 + 3x^4 + x^8
}

func TestNoGradientsThroughCalls(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2)
	round := fn(g, func() tf.Output { return apply("Floor", constant(g, tf.Scalar(1.5))) })
	if _, err := tf.Gradients(ops.PartitionedCall(round, nil)[0], x); err == nil || !strings.Contains(err.Error(), "does not depend on") {
		t.Errorf("got %v", err)
	}
	stopped := tf.NewFunction(g, "f", nil, give(func() tf.Output {
		return repeat(2, x, func(_, y tf.Output) tf.Output { return mul(y, y) }, tf.WhileOpts{NoBackProp: true})
	}))
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{add(x, stopped.Call(nil)[0])}, Xs: []tf.Output{x}})
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{1})
}

// TestRemoteCall runs a function on the device that a string names.
func TestRemoteCall(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 3)
	f := tf.NewFunction(g, "f", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return mul(x, x) }))
	target := constant(g, tf.Scalar("/job:localhost/replica:0/task:0/device:CPU:0"))
	tftest.Elements(t, run(t, g, ops.RemoteCall(target, f, []tf.Output{x})[0])[0], []float64{9})
}

// TestControlOfFunctions: what a function waits for around it comes before the
// call.
func TestControlOfFunctions(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(vec(g, 1), tf.VariableOptions{Name: "v"})
	set := v.Assign(vec(g, 5))
	f := fn(g, func() (y tf.Output) {
		g.ControlDependencies([]*tf.Operation{set}, func() { y = v.Read() })
		return y
	})
	y := f.Call(nil)[0]
	if c := y.Operation().ControlInputs(); len(c) != 1 || c[0] != set {
		t.Errorf("the call waits for %v", c)
	}
	tftest.Elements(t, runFirst(t, g, []*tf.Operation{v.Initializer()}, y)[0], []float64{5})
}

// lookedUp looks up some rows of v, in different ways.
func lookedUp(v *tf.Variable) map[string]func(g *tf.Graph) tf.Output {
	rows := func(g *tf.Graph) tf.Output {
		return ops.ResourceGather(v.Handle(), ops.Const(g, []int64{1, 3, 1}), tf.Float64)
	}
	yes := func(g *tf.Graph) tf.Output { return constant(g, tf.Scalar(true)) }
	return map[string]func(g *tf.Graph) tf.Output{
		"call": func(g *tf.Graph) tf.Output { return fn(g, func() tf.Output { return rows(g) }).Call(nil)[0] },
		"call of calls": func(g *tf.Graph) tf.Output {
			return fn(g, func() tf.Output { return fn(g, func() tf.Output { return rows(g) }).Call(nil)[0] }).Call(nil)[0]
		},
		"branches": func(g *tf.Graph) tf.Output {
			other := fn(g, func() tf.Output { return ops.ResourceGather(v.Handle(), ops.Const(g, []int32{0}), tf.Float64) })
			return ops.If(yes(g), nil, fn(g, func() tf.Output { return rows(g) }), other)[0]
		},
		"a branch without": func(g *tf.Graph) tf.Output {
			other := fn(g, func() tf.Output { return ops.Const(g, []float64{1, 2}, 1, 2) })
			return ops.If(yes(g), nil, fn(g, func() tf.Output { return rows(g) }), other)[0]
		},
		"a dense branch": func(g *tf.Graph) tf.Output {
			other := fn(g, func() tf.Output { return v.Value() })
			return ops.If(yes(g), nil, fn(g, func() tf.Output { return rows(g) }), other)[0]
		},
	}
}

// TestSparseGradientsOfFunctions: the gradient of what a function looks up is of
// the rows that it has looked up, as it is without a function.
func TestSparseGradientsOfFunctions(t *testing.T) {
	for _, name := range []string{"call", "call of calls", "branches", "a branch without", "a dense branch"} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Const(g, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2), tf.VariableOptions{Name: "v"})
		grads, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{lookedUp(v)[name](g)}, Xs: []tf.Output{v.Handle()}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, ok := grads[0].IndexedSlices()
		if !ok {
			t.Errorf("%s: the gradient is dense", name)
			continue
		}
		got := runFirst(t, g, []*tf.Operation{v.Initializer()}, s.Values, s.Indices, s.DenseShape, grads[0].Output())
		tftest.Elements(t, got[0], []float64{1, 1, 1, 1, 1, 1})
		tftest.Elements(t, got[1], []int64{1, 3, 1})
		tftest.Elements(t, got[3], []float64{0, 0, 2, 2, 0, 0, 1, 1})
	}
}
