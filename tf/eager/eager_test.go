package eager_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestMain sees that graphs which nobody holds any more leave no goroutine.
func TestMain(m *testing.M) {
	code := m.Run()
	runtime.GC()
	if err := leaktest.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func value(t *testing.T, x tf.Output) *tf.Tensor {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOperationsComputeAtOnce(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	y := ops.MatMul(x, x, ops.MatMulOpts{TransposeB: true})
	tftest.Elements(t, value(t, y), []float32{5, 11, 11, 25})
	if !y.Shape().Equal(tf.Shape{2, 2}) || y.DType() != tf.Float32 || len(g.Operations()) != 0 {
		t.Errorf("got %v, the graph keeps %v", y, g.Operations())
	}
	if y.String() != "MatMul:0 float32[2,2]" || !y.Operation().Shapes()[0].Equal(tf.Shape{2, 2}) {
		t.Errorf("got %s", y)
	}
}

func TestAttributesAndTypesTellOperationsApart(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	plain, turned := ops.MatMul(x, x), ops.MatMul(x, x, ops.MatMulOpts{TransposeA: true})
	both := ops.MatMul(x, x, ops.MatMulOpts{TransposeA: true, TransposeB: true})
	double := ops.Const(g, []float64{2}, 1, 1)
	tftest.Elements(t, value(t, plain), []float32{7, 10, 15, 22})
	tftest.Elements(t, value(t, turned), []float32{10, 14, 14, 20})
	tftest.Elements(t, value(t, both), []float32{7, 15, 10, 22})
	tftest.Elements(t, value(t, ops.MatMul(double, double)), []float64{4})
	tftest.Elements(t, value(t, ops.MatMul(x, x)), []float32{7, 10, 15, 22})
	for axis, want := range map[int32][]float32{0: {4, 6}, 1: {3, 7}} {
		a := ops.Const(g, []int32{axis}, 1)
		tftest.Elements(t, value(t, ops.Sum(x, a)), want)
		kept := ops.Sum(x, a, tf.Attr("keep_dims", true))
		if tftest.Elements(t, value(t, kept), want); len(kept.Shape()) != 2 {
			t.Errorf("kept dimensions: %v", kept)
		}
	}
}

func TestListsOfOutputs(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 6)
	axis := ops.Const(g, []int32{0}, 1)
	axis = ops.Reshape(axis, ops.Const(g, []int32{}, 0))
	for _, n := range []int{3, 2, 3} {
		parts := tf.Apply(g, "Split", []tf.Output{axis, x}, tf.Attr("num_split", n)).Outputs()
		if len(parts) != n {
			t.Fatalf("%d parts, want %d", len(parts), n)
		}
		if last := tf.Data[int32](value(t, parts[n-1])); last[len(last)-1] != 6 || len(last) != 6/n {
			t.Errorf("the last of %d parts is %v", n, last)
		}
	}
}

func TestFailurePoisonsItsOutputOnly(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3}, 3)
	y := ops.Const(g, []float32{1, 2}, 2)
	_, _, line, _ := runtime.Caller(0)
	bad := ops.Add(x, y)
	want := fmt.Sprintf(`eager_test.go:%d: AddV2 "AddV2"(Const:0 float32[3], Const:0 float32[2]): `, line+1)
	if err := bad.Err(); err == nil || !strings.HasPrefix(err.Error(), want) || tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v\nwant %s…", err, want)
	}
	if g.Err() != nil {
		t.Errorf("the graph has %v", g.Err())
	}
	after := ops.Neg(ops.Mul(bad, x))
	if after.Err() != bad.Err() {
		t.Errorf("what depends on it has %v", after.Err())
	}
	if _, err := after.Value(); err != bad.Err() {
		t.Errorf("Value: %v", err)
	}
	tftest.Elements(t, value(t, ops.Add(x, x)), []float32{2, 4, 6})
	if op := tf.Apply(g, "NoOp", nil, tf.After(bad.Operation())); op.Err() != bad.Err() {
		t.Errorf("what comes after it has %v", op.Err())
	}
	bad.SetShape(tf.Shape{7})
	x.SetShape(tf.Shape{7}) // a contradiction, but nobody's graph is at stake
	if g.Err() != nil || !x.Shape().Equal(tf.Shape{3}) {
		t.Errorf("after SetShape: %v, %v", g.Err(), x)
	}
}

func TestMistakes(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1}, 1)
	for want, op := range map[string]*tf.Operation{
		"Op type not registered 'Nonsense'": tf.Apply(g, "Nonsense", []tf.Output{x}),
		"MatMul takes inputs (a, b)":        tf.Apply(g, "MatMul", []tf.Output{x}),
		"Malformed device specification":    tf.Apply(g, "Neg", []tf.Output{x}, tf.OnDevice("/nonsense")),
		`Neg has no attribute "x"`:          tf.Apply(g, "Neg", []tf.Output{x}, tf.Attr("x", 1)),
		"the kernel of TestPanics panicked": tf.Apply(g, "TestPanics", nil),
		"TestNothing gave no value":         tf.Apply(g, "TestNothing", nil),
		"asynchronous failure":              tf.Apply(g, "TestAsync", nil, tf.Attr("fail", true)),
	} {
		if err := op.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	tftest.Elements(t, value(t, tf.Apply(g, "TestAsync", nil).Output(0)), []int32{42})
	if err := g.ImportGraphDef(nil, tf.ImportOptions{}); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("importing into an eager graph: %v", err)
	}
}

func init() {
	op := func(name, attrs string, k core.Kernel) {
		core.Register(core.OpDef{
			Name: name, Out: "y: int32", Attrs: attrs, Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable,
			Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) { return k, nil }),
		})
	}
	op("TestPanics", "", core.Compute(func(*core.OpContext) error { panic("on purpose") }))
	op("TestNothing", "", core.Compute(func(*core.OpContext) error { return nil }))
	op("TestAsync", "fail: bool = false", core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		fail := c.Node.Bool("fail")
		go func() {
			if fail {
				done(errors.New("asynchronous failure"))
				return
			}
			c.Set(0, (*core.Tensor)(tf.Scalar(int32(42))))
			done(nil)
		}()
	}))
}

func TestStrictPanics(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "Nonsense") {
			t.Errorf("recovered %v", err)
		}
	}()
	tf.Apply(eager.New(tf.Strict()), "Nonsense", nil)
	t.Error("no panic")
}

func TestVariables(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}, 2), tf.VariableOptions{Name: "v"})
	w := tf.NewVariable(ops.Const(g, []float32{5}, 1), tf.VariableOptions{Name: "v"})
	before := value(t, v.Value())
	v.AssignAdd(ops.Const(g, []float32{10, 10}, 2))
	tftest.Elements(t, before, []float32{1, 2}) // a value that was read does not change
	tftest.Elements(t, value(t, v.Value()), []float32{11, 12})
	tftest.Elements(t, value(t, v.Initial()), []float32{11, 12})
	tftest.Elements(t, value(t, w.Read()), []float32{5})
	tftest.Elements(t, value(t, v.IsInitialized()), []bool{true})
	if v.Name() == w.Name() {
		t.Errorf("two variables are named %s", v.Name())
	}
}

func TestGradientsOnATape(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3}, 1)
	var y tf.Output
	tape := eager.Record(g, func() { y = ops.Mul(ops.Mul(x, x), x) })
	gs, err := tape.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, value(t, gs[0]), []float64{27})
	if gs, err = tape.Gradients(y, x); err != nil {
		t.Fatal(err) // a tape may be used again
	}
	tftest.Elements(t, value(t, gs[0]), []float64{27})
}

func TestGradientsOfGradients(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3}, 1)
	var first tf.Output
	outer := eager.Record(g, func() {
		var y tf.Output
		inner := eager.Record(g, func() { y = ops.Mul(ops.Mul(x, x), x) })
		gs, err := inner.Gradients(y, x)
		if err != nil {
			t.Fatal(err)
		}
		first = gs[0]
	})
	gs, err := outer.Gradients(first, x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, value(t, gs[0]), []float64{18})
}

func TestGradientsNeedATape(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3}, 1)
	y := ops.Mul(x, x)
	if _, err := tf.Gradients(y, x); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "eager.Record") {
		t.Errorf("without a tape: %v", err)
	}
	tape := eager.Record(g, func() {})
	if _, err := tape.Gradients(y, x); err == nil || !strings.Contains(err.Error(), "outside of the function of eager.Record") {
		t.Errorf("what was computed before the tape: %v", err)
	}
	if _, err := tape.Gradients(ops.Const(eager.New(), []float64{1}, 1), x); err == nil {
		t.Error("gradients of another graph's output")
	}
}

func TestErrorsInGradients(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3}, 1)
	var y tf.Output
	tape := eager.Record(g, func() { y = tf.Apply(g, "TestBadGradient", []tf.Output{x}).Output(0) })
	if _, err := tape.Gradients(y, x); err == nil || !strings.Contains(err.Error(), "Nonsense") {
		t.Errorf("got %v", err)
	}
	if g.Err() != nil {
		t.Errorf("the graph has %v", g.Err())
	}
}

func init() {
	core.Register(core.OpDef{
		Name: "TestBadGradient", In: "x: double", Out: "y: double", Shape: func(*core.Infer) error { return nil },
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error { c.Forward(0, 0); return nil }), nil
		}),
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			return tf.Grads(tf.Apply(nil, "Nonsense", dy).Output(0))
		}),
	})
}

func TestRandomStreamsGoOn(t *testing.T) {
	draw := func() (seeded, again, free []float32) {
		g := eager.New()
		g.SetSeed(5)
		shape := ops.Const(g, []int32{3}, 1)
		uniform := func(seed, seed2 int) []float32 {
			x := tf.Apply(g, "RandomUniform", []tf.Output{shape}, tf.Attr("dtype", tf.Float32), tf.Attr("seed", seed), tf.Attr("seed2", seed2))
			return tf.Data[float32](value(t, x.Output(0)))
		}
		return uniform(1, 2), uniform(1, 2), uniform(1, 3)
	}
	a, b, c := draw()
	if slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("drew %v, %v and %v", a, b, c)
	}
	d, e, f := draw()
	if !slices.Equal(a, d) || !slices.Equal(b, e) || !slices.Equal(c, f) {
		t.Error("another graph with the same seeds draws other numbers")
	}
}

// A graph cannot be closed: the goroutines that help with its loops end by
// themselves, and soon, while it is still held.
func TestHelpersEndThemselves(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	before := goleak.IgnoreCurrent()
	g := eager.New()
	x := ops.Fill(ops.Const(g, []int32{512, 512}), ops.Scalar(g, float32(1)))
	if y := ops.MatMul(x, x); y.Err() != nil {
		t.Fatal(y.Err())
	}
	if err := leaktest.Find(before); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(g)
}
