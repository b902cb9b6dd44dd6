package tf_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func apply(op string, in ...tf.Output) tf.Output { return tf.Apply(nil, op, in).Output(0) }

func int32s(g *tf.Graph, v int32) tf.Output { return constant(g, tf.Scalar(v)) }

// repeat returns x after n times body, which also gets the iteration's number.
func repeat(n int32, x tf.Output, body func(i, x tf.Output) tf.Output, opts ...tf.Option) tf.Output {
	g := x.Graph()
	out := tf.While([]tf.Output{int32s(g, 0), x},
		func(v []tf.Output) tf.Output { return apply("Less", v[0], int32s(g, n)) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{apply("AddV2", v[0], int32s(g, 1)), body(v[0], v[1])}
		}, opts...)
	return out[len(out)-1]
}

// either returns what one of two functions returns.
func either(p tf.Output, yes, no func() tf.Output) tf.Output {
	list := func(f func() tf.Output) func() []tf.Output { return func() []tf.Output { return []tf.Output{f()} } }
	return tf.Cond(p, list(yes), list(no))[0]
}

// flows are functions of x and w as a graph and as Go computes them, element by
// element.
var flows = map[string]struct {
	graph func(x, w tf.Output) tf.Output
	value func(x, w float64) float64
}{
	"power": {
		func(x, w tf.Output) tf.Output {
			return repeat(4, x, func(_, y tf.Output) tf.Output { return mul(y, w) })
		},
		func(x, w float64) float64 { return x * w * w * w * w },
	},
	"a loop that is not entered": {
		func(x, w tf.Output) tf.Output {
			return add(repeat(0, x, func(_, y tf.Output) tf.Output { return mul(y, w) }), mul(w, w))
		},
		func(x, w float64) float64 { return x + w*w },
	},
	"a loop in a loop": {
		func(x, w tf.Output) tf.Output {
			return repeat(3, x, func(_, y tf.Output) tf.Output {
				inner := repeat(2, y, func(_, z tf.Output) tf.Output { return mul(apply("Sin", z), w) })
				return add(inner, mul(x, y))
			})
		},
		func(x, w float64) float64 {
			y := x
			for range 3 {
				z := y
				for range 2 {
					z = math.Sin(z) * w
				}
				y = z + x*y
			}
			return y
		},
	},
	"a conditional in a loop": {
		func(x, w tf.Output) tf.Output {
			return repeat(4, x, func(i, y tf.Output) tf.Output {
				return either(apply("Less", i, int32s(x.Graph(), 2)), func() tf.Output { return mul(y, mul(w, x)) }, func() tf.Output { return apply("Sin", y) })
			})
		},
		func(x, w float64) float64 { return math.Sin(math.Sin(x * w * x * w * x)) },
	},
	"a loop in a conditional": {
		func(x, w tf.Output) tf.Output {
			return either(constant(x.Graph(), tf.Scalar(true)), func() tf.Output {
				return repeat(3, x, func(_, y tf.Output) tf.Output { return mul(y, w) })
			}, func() tf.Output { return w })
		},
		func(x, w float64) float64 { return x * w * w * w },
	},
	"a conditional in a conditional": {
		func(x, w tf.Output) tf.Output {
			yes, no := constant(x.Graph(), tf.Scalar(true)), constant(x.Graph(), tf.Scalar(false))
			return either(yes, func() tf.Output {
				return either(no, func() tf.Output { return x }, func() tf.Output { return mul(x, mul(w, w)) })
			}, func() tf.Output { return w })
		},
		func(x, w float64) float64 { return x * w * w },
	},
}

func TestFlowGradients(t *testing.T) {
	xs, ws := []float64{0.5, 1.5}, []float64{1.25, 0.75}
	for name, c := range flows {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			x, w := vec(g, xs...), vec(g, ws...)
			y := c.graph(x, w)
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
		})
	}
}

// slope returns the derivative of f at x, by differences.
func slope(f func(float64) float64, x float64) float64 {
	const h = 1e-5
	return (f(x+h) - f(x-h)) / (2 * h)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Gradients can be added to a loop that was imported with its contexts.
func TestGradientsOfImportedContexts(t *testing.T) {
	for name, c := range flows {
		for _, scope := range []string{"", "imported"} {
			g := tf.NewGraph()
			x, w := vec(g, 0.5), vec(g, 1.25)
			y := c.graph(x, w)
			h := tf.NewGraph()
			def, err := g.GraphProto(0)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.ImportProto(def, tf.ImportOptions{Prefix: scope}); err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{tf.WhileContexts, tf.CondContexts} {
				for _, v := range g.Collection(kind) {
					if _, err := h.ImportControlFlowContext(v.(*tf.ControlFlowContext).Proto(""), scope); err != nil {
						t.Fatal(err)
					}
				}
			}
			in := func(x tf.Output) tf.Output {
				y, err := h.Output(strings.TrimPrefix(scope+"/"+x.Name(), "/"))
				if err != nil {
					t.Fatal(err)
				}
				return y
			}
			gs, err := tf.Gradients(in(y), in(w))
			if err != nil {
				t.Fatal(name, err)
			}
			near(t, name, tf.Data[float64](run(t, h, gs[0])[0])[0], slope(func(w float64) float64 { return c.value(0.5, w) }, 1.25))
		}
	}
}

func TestFlowNames(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 1), vec(g, 2)
	repeat(4, x, func(_, y tf.Output) tf.Output { return mul(y, w) })
	either(constant(g, tf.Scalar(true)), func() tf.Output { return mul(x, w) }, func() tf.Output { return x })
	for _, name := range strings.Fields(`while/Enter while/Enter_1 while/Merge while/Merge_1 while/Less while/LoopCond while/Switch while/Switch_1
		while/Identity while/Identity_1 while/AddV2 while/Mul while/Mul/Enter while/NextIteration while/NextIteration_1 while/Exit while/Exit_1
		cond/Switch cond/switch_t cond/switch_f cond/pred_id cond/Mul cond/Mul/Switch cond/Mul/Switch_1 cond/Switch_1 cond/Merge`) {
		if g.Operation(name) == nil {
			t.Errorf("no operation %s", name)
		}
	}
	if frame := g.Operation("while/Mul/Enter").Str("frame_name"); frame != "while/while_context" {
		t.Errorf("the frame is %s", frame)
	}
}

func TestMaximumIterations(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1, 2)
	for _, o := range []tf.WhileOpts{{MaximumIterations: int32s(g, 3)}, {MaxIterations: 3}} {
		y := repeat(10, x, func(_, y tf.Output) tf.Output { return add(y, y) }, o)
		f := tf.NewFunction(g, "f", nil, give(func() tf.Output { return repeat(10, x, func(_, y tf.Output) tf.Output { return add(y, y) }, o) }))
		for _, v := range run(t, g, y, f.Call(nil)[0]) {
			tftest.Elements(t, v, []float64{8, 16})
		}
	}
}

func TestShapeInvariants(t *testing.T) {
	grow := func(g *tf.Graph, opts ...tf.Option) tf.Output {
		return repeat(2, vec(g, 1, 2), func(_, y tf.Output) tf.Output {
			return apply("ConcatV2", y, y, int32s(g, 0))
		}, opts...)
	}
	y := grow(tf.NewGraph(), tf.WhileOpts{ShapeInvariants: []tf.Shape{{}, {-1}}})
	if got := run(t, y.Graph(), y)[0].Len(); got != 8 || !y.Shape().Equal(tf.Shape{-1}) {
		t.Errorf("%d elements, shape %v", got, y.Shape())
	}
	want := "Input tensor 'Const:0' enters the loop with shape [2], but has shape [4] after one iteration. To allow the shape to vary across iterations, give a less specific shape"
	if err := grow(tf.NewGraph()).Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	want = "It enters the loop with shape [2], but the specified shape invariant is [3]."
	if err := grow(tf.NewGraph(), tf.WhileOpts{ShapeInvariants: []tf.Shape{{}, {3}}}).Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

func TestFlowErrors(t *testing.T) {
	for want, build := range map[string]func(g *tf.Graph, x, p tf.Output) tf.Output{
		"'vars' must be provided.": func(_ *tf.Graph, _, _ tf.Output) tf.Output { return tf.While(nil, nil, nil)[0] },
		"Number of inputs and outputs of 'body' must match 'vars'. Got 2 for the number of inputs/outputs, and 1 for 'vars'.": func(_ *tf.Graph, x, p tf.Output) tf.Output {
			return tf.While([]tf.Output{x}, func([]tf.Output) tf.Output { return p }, func(v []tf.Output) []tf.Output { return append(v, v...) })[0]
		},
		"'parallel_iterations' must be a positive integer: -1": func(_ *tf.Graph, x, _ tf.Output) tf.Output {
			return repeat(1, x, func(_, y tf.Output) tf.Output { return y }, tf.WhileOpts{ParallelIterations: -1})
		},
		"either MaximumIterations or MaxIterations may be set": func(g *tf.Graph, x, _ tf.Output) tf.Output {
			return repeat(1, x, func(_, y tf.Output) tf.Output { return y }, tf.WhileOpts{MaximumIterations: int32s(g, 1), MaxIterations: 1})
		},
		"'maximum_iterations' must be positive and fit an int32: -1": func(g *tf.Graph, x, _ tf.Output) tf.Output {
			return repeat(1, x, func(_, y tf.Output) tf.Output { return y }, tf.WhileOpts{MaxIterations: -1})
		},
		"'onTrue' must have a return value.": func(_ *tf.Graph, _, p tf.Output) tf.Output {
			none := func() []tf.Output { return nil }
			return tf.Cond(p, none, none)[0]
		},
		"must have the same type(s). Received float64 from 'onTrue' and int32 from 'onFalse'.": func(g *tf.Graph, x, p tf.Output) tf.Output {
			return either(p, func() tf.Output { return x }, func() tf.Output { return int32s(g, 1) })
		},
		"Incompatible return values of 'onTrue' and 'onFalse'": func(_ *tf.Graph, x, p tf.Output) tf.Output {
			return tf.Cond(p, func() []tf.Output { return []tf.Output{x} }, func() []tf.Output { return []tf.Output{x, x} })[0]
		},
		"pred must be a bool": func(_ *tf.Graph, x, _ tf.Output) tf.Output {
			return either(x, func() tf.Output { return x }, func() tf.Output { return x })
		},
	} {
		g := tf.NewGraph()
		if err := build(g, vec(g, 1), constant(g, tf.Scalar(true))).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestNoSecondOrderThroughLoops(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1)
	gs, err := tf.Gradients(repeat(3, x, func(_, y tf.Output) tf.Output { return mul(y, y) }), x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tf.Gradients(gs[0], x); err == nil || !strings.Contains(err.Error(), "Second-order gradient for while loops not supported.") {
		t.Errorf("got %v", err)
	}
}

func TestNoBackProp(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2)
	y := repeat(3, x, func(_, y tf.Output) tf.Output { return mul(y, y) }, tf.WhileOpts{NoBackProp: true})
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{add(y, mul(x, x))}, Xs: []tf.Output{x}})
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{4})
}

// Sparse gradients of what a loop takes in are joined, not made dense.
func TestSparseGradientsInLoops(t *testing.T) {
	g := tf.NewGraph()
	x := constant(g, (*tf.Tensor)(core.NewTensor(tf.Float64, tf.Shape{3, 2})))
	y := repeat(2, constant(g, (*tf.Tensor)(core.NewTensor(tf.Float64, tf.Shape{3, 2}))), func(_, y tf.Output) tf.Output {
		return add(y, tf.Apply(g, "TestRows", []tf.Output{x}, tf.Attr("row", 2)).Output(0))
	})
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}})
	if _, ok := gs[0].IndexedSlices(); !ok {
		t.Fatal("the gradient is dense")
	}
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{0, 0, 0, 0, 2, 20})
}

// TestMergeOfReferences: a Merge of a reference and a value takes what the
// reference has.
func TestMergeOfReferences(t *testing.T) {
	g := tf.NewGraph()
	v := tf.Apply(g, "VariableV2", nil, tf.Attr("shape", tf.Shape{1}), tf.Attr("dtype", tf.Float64)).Output(0)
	sides := tf.Apply(g, "RefSwitch", []tf.Output{v, apply("IsVariableInitialized", v)})
	assign := tf.Apply(g, "Assign", []tf.Output{v, vec(g, 7)}, tf.After(apply("RefIdentity", sides.Output(0)).Operation()))
	read := tf.Apply(g, "Identity", []tf.Output{v}, tf.After(apply("RefIdentity", sides.Output(1)).Operation()))
	value := apply("Merge", assign.Output(0), read.Output(0))
	for _, x := range runFirst(t, g, []*tf.Operation{value.Operation()}, value, v) {
		tftest.Elements(t, x, []float64{7})
	}
}

func TestCase(t *testing.T) {
	for want, preds := range map[float64][2]bool{1: {true, true}, 2: {false, true}, 3: {false, false}} {
		g := tf.NewGraph()
		give := func(v float64) func() []tf.Output { return func() []tf.Output { return []tf.Output{vec(g, v)} } }
		y := tf.Case([]tf.CaseBranch{
			{Pred: constant(g, tf.Scalar(preds[0])), Then: give(1)}, {Pred: constant(g, tf.Scalar(preds[1])), Then: give(2)},
		}, give(3))
		tftest.Elements(t, run(t, g, y[0])[0], []float64{want})
	}
}

func TestCustomGradient(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2, 3)
	y := tf.CustomGradient([]tf.Output{x}, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
		return []tf.Output{mul(xs[0], xs[0])}, func(dys []tf.Output) []tf.Output { return []tf.Output{mul(dys[0], vec(g, 10))} }
	})
	gs, err := tf.Gradients(mul(y[0], vec(g, 5)), x)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, g, y[0], gs[0])
	tftest.Elements(t, got[0], []float64{4, 9})
	tftest.Elements(t, got[1], []float64{50, 50})
}

func TestGradientOverrideMap(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2)
	var y tf.Output
	g.GradientOverrideMap(map[string]tf.GradFunc{"Mul": func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(dy[0], tf.Output{})
	}}, func() { y = mul(x, x) })
	gs, err := tf.Gradients(add(y, mul(x, x)), x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, run(t, g, gs[0])[0], []float64{1 + 4})
}

func TestAggregation(t *testing.T) {
	for _, how := range []tf.Aggregation{tf.AddN, tf.ExperimentalTree, tf.ExperimentalAccumulateN} {
		g := tf.NewGraph()
		x := vec(g, 3)
		y := add(mul(x, x), add(x, mul(x, vec(g, 5))))
		gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}, Aggregation: how, Gate: true, Colocate: true})
		tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{12})
	}
}

// TestFailedLoopHasItsResults: a loop that cannot be built returns an output for each
// variable, which programs index, and all of them carry the error.
func TestFailedLoopHasItsResults(t *testing.T) {
	for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		x := int32s(g, 1)
		out := tf.While([]tf.Output{x, x, x}, func(v []tf.Output) tf.Output { return apply("Less", v[0], int32s(v[0].Graph(), 3)) }, func(v []tf.Output) []tf.Output { return v[:1] })
		if len(out) != 3 || out[0].Err() == nil || out[2].Err() == nil {
			t.Errorf("%s: %d outputs: %v", name, len(out), out)
		}
	}
}

// TestLoopOverAReference: a reference goes around a loop by the reference forms of the
// ops, so the loop's body changes the variable itself.
func TestLoopOverAReference(t *testing.T) {
	g := tf.NewGraph()
	v := tf.Apply(g, "VariableV2", nil, tf.Attr("shape", tf.Shape{1}), tf.Attr("dtype", tf.Float64)).Output(0)
	init := tf.Apply(g, "Assign", []tf.Output{v, vec(g, 1)})
	var out []tf.Output
	g.ControlDependencies([]*tf.Operation{init}, func() {
		ref := tf.Apply(g, "RefIdentity", []tf.Output{v}).Output(0)
		out = tf.While([]tf.Output{ref}, func(x []tf.Output) tf.Output {
			return apply("Less", apply("Sum", apply("Identity", x[0]), int32s(g, 0)), constant(g, tf.Scalar(40.0)))
		}, func(x []tf.Output) []tf.Output {
			return []tf.Output{tf.Apply(g, "AssignAdd", []tf.Output{x[0], apply("Identity", x[0])}).Output(0)}
		})
	})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"RefEnter", "RefMerge", "RefSwitch", "RefNextIteration", "RefExit"} {
		if !slices.ContainsFunc(g.Operations(), func(o *tf.Operation) bool { return o.OpName() == op }) {
			t.Errorf("the loop has no %s", op)
		}
	}
	if !out[0].DType().IsRef() {
		t.Fatal(out[0].DType())
	}
	for _, x := range runFirst(t, g, []*tf.Operation{out[0].Operation()}, v) {
		tftest.Elements(t, x, []float64{64})
	}
}
