package tf_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// list makes a function of one output one of lists.
func list(f func(x tf.Output) tf.Output) func([]tf.Output) []tf.Output {
	return func(x []tf.Output) []tf.Output { return []tf.Output{f(x[0])} }
}

// give makes a function without arguments.
func give(f func() tf.Output) func([]tf.Output) []tf.Output {
	return func([]tf.Output) []tf.Output { return []tf.Output{f()} }
}

// TestFunctionsCapture: what a function uses from around it becomes an argument.
func TestFunctionsCapture(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 1, 2), vec(g, 3, 4)
	f := tf.NewFunction(g, "f", tf.SpecOf(x), list(func(x tf.Output) tf.Output {
		inner := tf.NewFunction(g, "inner", nil, give(func() tf.Output { return mul(w, constant(g, tf.Scalar(2.0))) }))
		return add(mul(x, w), ops.PartitionedCall(inner, nil)[0])
	}))
	if c := f.Captures(); len(c) != 1 || c[0] != w || f.Err() != nil {
		t.Fatalf("captured %v: %v", c, f.Err())
	}
	once, twice := f.Call([]tf.Output{x}), ops.PartitionedCall(f, []tf.Output{w}, tf.Name("again"))
	got := run(t, g, once[0], twice[0])
	tftest.Elements(t, got[0], []float64{9, 16})
	tftest.Elements(t, got[1], []float64{15, 24})
	if op := once[0].Operation(); op.Name != "PartitionedCall" || twice[0].Operation().Name != "again" || op.FuncAttr("f").Name != f.Name() || !strings.HasPrefix(f.Name(), "__inference_f_") {
		t.Errorf("calls are %v, %v of %v", op, twice[0], op.FuncAttr("f"))
	}
	if library, _ := g.Library(); len(library.Names()) != 2 {
		t.Errorf("the library has %v", library.Names())
	}
}

// TestFunctionalFlows: conditionals and loops of functions compute what Go
// does, and so do their gradients.
func TestFunctionalFlows(t *testing.T) {
	xs, ws := []float64{0.5, 1.5}, []float64{1.25, 0.75}
	for name, c := range flows {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			x, w := vec(g, xs...), vec(g, ws...)
			f := tf.NewFunction(g, "flow", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return c.graph(x, w) }))
			y := f.Call([]tf.Output{x})[0]
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

// power returns x * w^n by a loop of functions.
func power(n int32, x, w tf.Output) tf.Output {
	g := x.Graph()
	vars := []tf.Output{int32s(g, 0), x}
	cond := tf.NewFunction(g, "less", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output { return []tf.Output{apply("Less", v[0], int32s(g, n))} })
	body := tf.NewFunction(g, "times", tf.SpecOf(vars...), func(v []tf.Output) []tf.Output {
		return []tf.Output{apply("AddV2", v[0], int32s(g, 1)), mul(v[1], w)}
	})
	return ops.While(vars, cond, body)[1]
}

func TestSecondOrderThroughLoops(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 0.5), vec(g, 1.5)
	y := power(4, apply("Sin", x), w)
	first, err := tf.Gradients(y, w)
	if err != nil {
		t.Fatal(err)
	}
	second, err := tf.Gradients(first[0], w, x)
	if err != nil {
		t.Fatal(err)
	}
	third, err := tf.Gradients(second[0], w)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, g, y, first[0], second[0], second[1], third[0])
	s, c := math.Sin(0.5), math.Cos(0.5)
	for i, want := range []float64{s * math.Pow(1.5, 4), 4 * s * math.Pow(1.5, 3), 12 * s * 1.5 * 1.5, 4 * c * math.Pow(1.5, 3), 24 * s * 1.5} {
		near(t, "derivative", tf.Data[float64](got[i])[0], want)
	}
}

func TestSecondOrderThroughBranches(t *testing.T) {
	for _, p := range []bool{true, false} {
		g := tf.NewGraph()
		x := vec(g, 0.5)
		then := tf.NewFunction(g, "then", nil, give(func() tf.Output { return mul(apply("Exp", x), apply("Exp", x)) }))
		other := tf.NewFunction(g, "other", nil, give(func() tf.Output { return apply("Sin", x) }))
		y := ops.If(constant(g, tf.Scalar(p)), nil, then, other)
		first, err := tf.Gradients(y[0], x)
		if err != nil {
			t.Fatal(err)
		}
		second, err := tf.Gradients(first[0], x)
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, g, first[0], second[0])
		want := map[bool][2]float64{true: {2 * math.E, 4 * math.E}, false: {math.Cos(0.5), -math.Sin(0.5)}}[p]
		near(t, "first", tf.Data[float64](got[0])[0], want[0])
		near(t, "second", tf.Data[float64](got[1])[0], want[1])
	}
}

// TestVariablesInFunctions: functions read and assign variables in the order in
// which that was written, and gradients reach them.
func TestVariablesInFunctions(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 3)
	v := tf.NewVariable(vec(g, 2), tf.VariableOptions{Name: "v"})
	bump := tf.NewFunction(g, "bump", nil, func([]tf.Output) []tf.Output {
		before := v.Read()
		v.AssignAdd(x)
		after := v.Value()
		v.Assign(mul(after, after))
		return []tf.Output{before, after}
	})
	loop := tf.NewFunction(g, "loop", tf.SpecOf(x), list(func(x tf.Output) tf.Output {
		return repeat(3, x, func(i, y tf.Output) tf.Output {
			return either(apply("Less", i, int32s(g, 2)), func() tf.Output { return mul(y, v.Value()) }, func() tf.Output { return y })
		})
	}))
	y := ops.StatefulPartitionedCall(loop, []tf.Output{x})[0]
	gs, err := tf.Gradients(y, v.Handle(), x)
	if err != nil {
		t.Fatal(err)
	}
	values := bump.Call(nil)
	got := runFirst(t, g, []*tf.Operation{v.Initializer()}, y, gs[0], gs[1])
	for i, want := range []float64{12, 12, 4} { // x * v^2
		tftest.Elements(t, got[i], []float64{want})
	}
	got = runFirst(t, g, []*tf.Operation{v.Initializer(), values[0].Operation()}, v.Value())
	tftest.Elements(t, got[0], []float64{25})
	if op := values[0].Operation(); op.OpName() != "StatefulPartitionedCall" {
		t.Errorf("a function with effects is called by %v", op)
	}
	if tf.NewFunction(g, "make", nil, give(func() tf.Output {
		return tf.NewVariable(x, tf.VariableOptions{Name: "w"}).Value()
	})).Err() == nil {
		t.Error("a variable was made in a function")
	}
}

// runFirst runs first, one after another, in one session and then fetches.
func runFirst(t *testing.T, g *tf.Graph, first []*tf.Operation, fetches ...tf.Output) []*tf.Tensor {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range first {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	list := make([]tf.Fetchable, len(fetches))
	for i, x := range fetches {
		list[i] = x
	}
	out, err := s.Run(t.Context(), nil, list...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEffectsHappen: of a function without results, also in the branch taken.
func TestEffectsHappen(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(vec(g, 2), tf.VariableOptions{Name: "v"})
	add := func(x float64) *tf.Function {
		return tf.NewFunction(g, "add", nil, func([]tf.Output) []tf.Output { v.AssignAdd(vec(g, x)); return nil })
	}
	which := ops.Case(int32s(g, 1), nil, []*tf.Function{add(1), add(10), add(100)}, tf.Name("which"))
	if len(which) != 0 || g.Err() != nil {
		t.Fatal(which, g.Err())
	}
	op := g.Operation("which")
	if op.OpName() != "Case" || !op.Bool("_lower_using_switch_merge") {
		t.Errorf("got %v", op)
	}
	tftest.Elements(t, runFirst(t, g, []*tf.Operation{v.Initializer(), op, op}, v.Value())[0], []float64{22})
}

func TestFunctionErrors(t *testing.T) {
	one := func(g *tf.Graph, f func(x tf.Output) tf.Output) *tf.Function {
		return tf.NewFunction(g, "f", []tf.ArgSpec{{Name: "x", DType: tf.Float64, Shape: tf.Shape{-1}}}, list(f))
	}
	same := func(x tf.Output) tf.Output { return x }
	for want, build := range map[string]func(g *tf.Graph, x, p tf.Output) []tf.Output{
		"a function must be given what it takes: __inference_f_1 takes (float64[?]), got (float64[1], float64[1])": func(g *tf.Graph, x, _ tf.Output) []tf.Output {
			return one(g, same).Call([]tf.Output{x, x})
		},
		"branches must return the same types: branch 0, __inference_f_1, returns (float64[?]), branch 1, __inference_f_2, returns (int32[1])": func(g *tf.Graph, x, p tf.Output) []tf.Output {
			return ops.If(p, []tf.Output{x}, one(g, same), one(g, func(x tf.Output) tf.Output { return apply("Shape", x) }))
		},
		"needs at least one branch, got none": func(g *tf.Graph, x, _ tf.Output) []tf.Output {
			return ops.Case(int32s(g, 0), []tf.Output{x}, nil)
		},
		"If needs functions, got none": func(g *tf.Graph, x, p tf.Output) []tf.Output { return ops.If(p, nil, nil, nil) },
		"the condition of a loop must return one scalar of type bool, __inference_f_1 returns (float64[?])": func(g *tf.Graph, x, _ tf.Output) []tf.Output {
			return ops.While([]tf.Output{x}, one(g, same), one(g, same))
		},
		"the body of a loop must return what it takes: __inference_f_2 takes (float64[?]), returns (int32[1])": func(g *tf.Graph, x, p tf.Output) []tf.Output {
			return ops.StatelessWhile([]tf.Output{x}, one(g, func(tf.Output) tf.Output { return p }), one(g, func(x tf.Output) tf.Output { return apply("Shape", x) }))
		},
		"inputs must belong to one graph": func(g *tf.Graph, x, _ tf.Output) []tf.Output {
			return one(g, func(x tf.Output) tf.Output { return add(x, vec(tf.NewGraph(), 1)) }).Call([]tf.Output{x})
		},
		"results of a function must be made in it or around it": func(g *tf.Graph, x, _ tf.Output) []tf.Output {
			return one(g, func(x tf.Output) tf.Output { return vec(tf.NewGraph(), 1) }).Call([]tf.Output{x})
		},
	} {
		g := tf.NewGraph()
		out := build(g, vec(g, 1), constant(g, tf.Scalar(true)))
		if err := out[0].Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "_test.go:") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestGradientsAfterRunning: a session keeps what it has seen of an operation.
func TestGradientsAfterRunning(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 0.5), vec(g, 1.5)
	y := power(3, x, w)
	near(t, "y", tf.Data[float64](run(t, g, y)[0])[0], 0.5*1.5*1.5*1.5)
	gs, err := tf.Gradients(y, w)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "dw", tf.Data[float64](run(t, g, gs[0])[0])[0], 3*0.5*1.5*1.5)
	v := tf.NewVariable(x, tf.VariableOptions{Name: "v"})
	f := tf.NewFunction(g, "f", nil, give(func() tf.Output { v.AssignAdd(x); return apply("Exp", mul(v.Value(), w)) }))
	z := f.Call(nil)[0]
	runFirst(t, g, []*tf.Operation{v.Initializer()}, z)
	if _, err := tf.Gradients(z, w); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "after it was run by a session") {
		t.Errorf("got %v", err)
	}
}

// TestCustomGradientsInFunctions: the gradient of a function is of the
// operations that it was traced with.
func TestCustomGradientsInFunctions(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 2)
	f := tf.NewFunction(g, "f", tf.SpecOf(x), func(xs []tf.Output) []tf.Output {
		return tf.CustomGradient(xs, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			return []tf.Output{mul(xs[0], xs[0])}, func(dys []tf.Output) []tf.Output { return []tf.Output{mul(dys[0], xs[0])} }
		})
	})
	gs, err := tf.Gradients(f.Call([]tf.Output{x})[0], x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, run(t, g, gs[0])[0], []float64{2})
}

// TestLibrariesOfTracedFunctions: what is traced goes to a GraphDef and back.
func TestLibrariesOfTracedFunctions(t *testing.T) {
	for name, c := range flows {
		g := tf.NewGraph()
		x, w := vec(g, 0.5), vec(g, 1.25)
		f := tf.NewFunction(g, "flow", tf.SpecOf(x), list(func(x tf.Output) tf.Output { return c.graph(x, w) }))
		y := f.Call([]tf.Output{x})[0]
		data, err := g.MarshalGraphDef()
		if err != nil {
			t.Fatal(err)
		}
		h := tf.NewGraph()
		if err := h.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		in := func(x tf.Output) tf.Output {
			y, err := h.Output(x.Name())
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
