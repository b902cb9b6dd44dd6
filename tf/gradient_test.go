package tf_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func mul(x, y tf.Output) tf.Output { return tf.Apply(nil, "Mul", []tf.Output{x, y}).Output(0) }
func add(x, y tf.Output) tf.Output { return tf.Apply(nil, "AddV2", []tf.Output{x, y}).Output(0) }

func vec(g *tf.Graph, v ...float64) tf.Output {
	t, err := tf.FromSlice(v)
	if err != nil {
		panic(err)
	}
	return constant(g, t)
}

// run returns the values of fetches.
func run(t *testing.T, g *tf.Graph, fetches ...tf.Output) []*tf.Tensor {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list := make([]tf.Fetchable, len(fetches))
	for i, x := range fetches {
		list[i] = x
	}
	got, err := s.Run(context.Background(), nil, list...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func differentiate(t *testing.T, o tf.GradientOptions) []tf.Gradient {
	t.Helper()
	gs, err := tf.Differentiate(o)
	if err != nil {
		t.Fatal(err)
	}
	return gs
}

func TestGradientsFanOutAndIn(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 1, 2, 3), vec(g, 4, 5, 6)
	square := mul(x, x)
	y := add(mul(square, w), add(square, x)) // x²w + x² + x
	gs, err := tf.Gradients(y, x, w, square)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, g, gs...)
	tftest.Elements(t, got[0], []float64{2*1*4 + 2*1 + 1, 2*2*5 + 2*2 + 1, 2*3*6 + 2*3 + 1})
	tftest.Elements(t, got[1], []float64{1, 4, 9})
	tftest.Elements(t, got[2], []float64{5, 6, 7})
}

func TestGradientsOfSeveralYs(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1, 2)
	y := mul(x, x)
	z := mul(y, x)
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y, z, y}, Xs: []tf.Output{x}, GradYs: []tf.Output{vec(g, 10, 100), {}, {}}})
	// d(10·x² + x³ + x²) and d(100·x² + x³ + x²)
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{20*1 + 3*1 + 2*1, 200*2 + 3*4 + 2*2})
}

func TestGradientOfItself(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 5, 7)
	y := mul(x, x)
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{y, x}, GradYs: []tf.Output{vec(g, 2, 3)}})
	got := run(t, g, gs[0].Output(), gs[1].Output())
	tftest.Elements(t, got[0], []float64{2, 3})
	tftest.Elements(t, got[1], []float64{20, 42})
}

func TestStoppedGradients(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 3)
	y := mul(x, x)
	z := mul(y, x) // with y constant the gradient is y
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{z}, Xs: []tf.Output{x}, Stop: []tf.Output{y}})
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{9})
}

func TestUnconnectedGradients(t *testing.T) {
	g := tf.NewGraph()
	x, other := vec(g, 1), vec(g, 2, 3)
	ids := constant(g, (*tf.Tensor)(fromSlice(t, []int32{0})))
	y := tf.Apply(g, "Cast", []tf.Output{tf.Apply(g, "Cast", []tf.Output{x}, tf.Attr("DstT", tf.Int32)).Output(0)}, tf.Attr("DstT", tf.Float64)).Output(0)
	for _, far := range []tf.Output{other, ids, x} {
		if _, err := tf.Gradients(y, far); err == nil || !strings.Contains(err.Error(), "does not depend on "+far.String()) {
			t.Errorf("%v: %v", far, err)
		}
	}
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{other, x}})
	if !gs[0].IsZero() || !gs[1].IsZero() {
		t.Errorf("got %v", gs)
	}
	gs = differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{other}, ZeroUnconnected: true})
	tftest.Elements(t, run(t, g, gs[0].Output())[0], []float64{0, 0})
}

func TestGradientErrors(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1)
	i := constant(g, tf.Scalar(int32(1)))
	c := constant(g, tf.Scalar(1i))
	foreign := vec(tf.NewGraph(), 1)
	undefined := tf.Apply(g, "TestNoGradient", []tf.Output{x}).Output(0)
	few := tf.Apply(g, "TestFewGradients", []tf.Output{x}).Output(0)
	for want, o := range map[string]tf.GradientOptions{
		"gradients need at least one y":                          {},
		"ys of a floating-point type, got " + i.String():         {Ys: []tf.Output{i}, Xs: []tf.Output{x}},
		"must set grad_ys, got none for " + c.String():           {Ys: []tf.Output{c}, Xs: []tf.Output{c}},
		"must belong to one graph":                               {Ys: []tf.Output{x}, Xs: []tf.Output{foreign}},
		"the zero Output":                                        {Ys: []tf.Output{x}, Xs: []tf.Output{{}}},
		"as many grad ys as ys: got 2 for 1":                     {Ys: []tf.Output{x}, GradYs: []tf.Output{x, x}},
		"must have its type and shape, got " + i.String():        {Ys: []tf.Output{x}, Xs: []tf.Output{x}, GradYs: []tf.Output{i}},
		"No gradient defined for operation 'TestNoGradient' (op": {Ys: []tf.Output{undefined}, Xs: []tf.Output{x}},
		"do not match num inputs 1":                              {Ys: []tf.Output{few}, Xs: []tf.Output{x}},
	} {
		if _, err := tf.Differentiate(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := g.Err(); err != nil {
		t.Errorf("the graph has an error now: %v", err)
	}
}

func init() {
	same := func(c *core.Infer) error { c.Set(0, c.In(0)); return nil }
	core.Register(core.OpDef{Name: "TestNoGradient", In: "x: double", Out: "y: double", Shape: same, NoGrad: core.NoGradientDefined})
	core.Register(core.OpDef{
		Name: "TestFewGradients", In: "x: double", Out: "y: double", Shape: same,
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy[0], dy[0]) }),
	})
}

func init() {
	core.Register(core.OpDef{
		Name: "TestBadGradient", In: "x: double", Out: "y: double", Shape: func(c *core.Infer) error { c.Set(0, c.In(0)); return nil },
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			return tf.Grads(tf.Apply(nil, "Nonsense", dy).Output(0))
		}),
	})
	core.Register(core.OpDef{
		Name: "TestRows", In: "x: double", Out: "y: double", Attrs: "row: int",
		Shape: func(c *core.Infer) error { c.Set(0, c.In(0)); return nil },
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error { c.Forward(0, 0); return nil }), nil
		}),
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			return []tf.Gradient{rowsOf(op.Graph(), []int32{int32(op.Int("row"))}, 1, 10)}
		}),
	})
}

func TestErrorsInGradientFunctions(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1)
	y := tf.Apply(g, "TestBadGradient", []tf.Output{x}).Output(0)
	if _, err := tf.Gradients(y, x); err == nil || !strings.Contains(err.Error(), `Nonsense "gradients/TestBadGradient_grad/Nonsense"`) {
		t.Errorf("got %v", err)
	}
}

// rowsOf is a sparse gradient with one row for each index.
func rowsOf(g *tf.Graph, indices []int32, rows ...float64) tf.Gradient {
	v, err := tf.FromSlice(rows, len(indices), 2)
	if err != nil {
		panic(err)
	}
	i, err := tf.FromSlice(indices)
	if err != nil {
		panic(err)
	}
	shape, err := tf.FromSlice([]int32{3, 2})
	if err != nil {
		panic(err)
	}
	return tf.Sparse(tf.IndexedSlices{Values: constant(g, v), Indices: constant(g, i), DenseShape: constant(g, shape)})
}

func TestSparseGradientsAreMadeDense(t *testing.T) {
	g := tf.NewGraph()
	d := rowsOf(g, []int32{2, 0, 2}, 1, 2, 3, 4, 5, 6)
	s, ok := d.IndexedSlices()
	if !ok || d.IsZero() || s.Values.IsZero() {
		t.Errorf("got %v, %v", s, ok)
	}
	tftest.Elements(t, run(t, g, d.Output())[0], []float64{3, 4, 0, 0, 6, 8})
}

func TestSparseGradientsAreJoined(t *testing.T) {
	g := tf.NewGraph()
	x := constant(g, (*tf.Tensor)(core.NewTensor(tf.Float64, tf.Shape{3, 2})))
	rows := func(i int) tf.Output { return tf.Apply(g, "TestRows", []tf.Output{x}, tf.Attr("row", i)).Output(0) }
	y := add(rows(2), add(rows(1), rows(2)))
	gs := differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}})
	s, ok := gs[0].IndexedSlices()
	if !ok {
		t.Fatalf("the sum of sparse gradients is %v", gs[0])
	}
	got := run(t, g, s.Indices, s.Values, gs[0].Output())
	if got[0].Len() != 3 || got[1].Len() != 6 {
		t.Errorf("joined rows: %v of %v", got[0], got[1])
	}
	tftest.Elements(t, got[2], []float64{0, 0, 1, 10, 2, 20})

	mixed := differentiate(t, tf.GradientOptions{Ys: []tf.Output{add(rows(0), mul(x, x))}, Xs: []tf.Output{x}})
	if _, ok := mixed[0].IndexedSlices(); ok {
		t.Error("a sparse and a dense gradient became a sparse one")
	}
	tftest.Elements(t, run(t, g, mixed[0].Output())[0], []float64{1, 10, 0, 0, 0, 0})
}

func TestGradientsThroughVariables(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(vec(g, 2, 3), tf.VariableOptions{Name: "v"})
	y := mul(v.Value(), v.Value())
	gs, err := tf.Gradients(y, v.Handle())
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(context.Background(), nil, gs[0])
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, got[0], []float64{4, 6})
}

func TestGradientsAreInAScope(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1)
	y := mul(x, x)
	before := len(g.Operations())
	for i, want := range []string{"gradients/", "gradients_1/", "mine/"} {
		name := ""
		if i == 2 {
			name = "mine"
		}
		differentiate(t, tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}, Name: name})
		for _, op := range g.Operations()[before:] {
			if !strings.HasPrefix(op.Name, want) {
				t.Errorf("%s is not in %s", op.Name, want)
			}
		}
		before = len(g.Operations())
	}
	if g.Operation("gradients/Mul_grad/Mul") == nil && g.Operation("gradients/Mul_grad/Mul_1") == nil {
		t.Error("gradients are not named after their operation")
	}
}

// TestDeepGraphs has a chain that recursion would feel.
func TestDeepGraphs(t *testing.T) {
	g := tf.NewGraph()
	x := vec(g, 1)
	y := x
	const depth = 5000
	for range depth {
		y = tf.Apply(nil, "Neg", []tf.Output{y}).Output(0)
	}
	gs, err := tf.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, run(t, g, gs[0])[0], []float64{1})
}

func ExampleGradients() {
	g := tf.NewGraph()
	x := constant(g, tf.Scalar(3.0))
	dx, err := tf.Gradients(mul(x, x), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := session.Fetch[float64](context.Background(), s, nil, dx[0])
	fmt.Println(v, err)
	// Output: [6] <nil>
}

// TestSparseGradientsOfTwoIndexTypes: rows that were gathered by int32 and by int64 have
// one gradient, whose indices are int64, added up or by the branches of a conditional.
func TestSparseGradientsOfTwoIndexTypes(t *testing.T) {
	g := tf.NewGraph()
	v := vec(g, 1, 2, 4)
	one := constant(g, (*tf.Tensor)(fromSlice(t, []int32{1})))
	two := constant(g, (*tf.Tensor)(fromSlice(t, []int64{2})))
	less := v.Sum().Less(1.0)
	cond := tf.Cond(less, func() []tf.Output { return []tf.Output{v.Gather(one, 0)} }, func() []tf.Output { return []tf.Output{v.Gather(two, 0)} })
	for want, y := range map[string]tf.Output{"float64[3]{0, 1, 1}": add(v.Gather(one, 0), v.Gather(two, 0)), "float64[3]{0, 0, 1}": cond[0]} {
		dv, err := tf.Gradients(y, v)
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, g, dv[0])[0].String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
