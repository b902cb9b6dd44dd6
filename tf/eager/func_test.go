package eager_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func TestFuncIsTracedOncePerSignature(t *testing.T) {
	g := eager.New()
	traced := 0
	f := eager.NewFunc(g, "f", func(x []tf.Output, static ...any) []tf.Output {
		traced++
		y := x[0]
		for range static[0].(int) {
			y = y.Mul(x[0])
		}
		return []tf.Output{y}
	})
	x, y := ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{3, 4, 5})
	for range 3 {
		tftest.Elements(t, value(t, f.Call([]tf.Output{x}, 2)[0]), []float32{1, 8})
		tftest.Elements(t, value(t, f.Call([]tf.Output{y}, 2)[0]), []float32{27, 64, 125})
		tftest.Elements(t, value(t, f.Call([]tf.Output{x}, 1)[0]), []float32{1, 4})
	}
	if traced != 3 || f.Traces() != 3 {
		t.Errorf("traced %d times, %d kept, want 3", traced, f.Traces())
	}
}

// TestFuncInFlatMemory: a thousand calls make one trace and leave nothing.
func TestFuncInFlatMemory(t *testing.T) {
	g := eager.New()
	w := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "w"})
	traced := 0
	f := eager.NewFunc(g, "step", func(x []tf.Output, _ ...any) []tf.Output {
		traced++
		w.AssignAdd(x[0])
		return []tf.Output{w.Value().Mul(x[0]).Sum()}
	})
	x := ops.Const(g, []float32{1, 0})
	step := func(n int) {
		for range n {
			var y []tf.Output
			tape := eager.Record(g, func() { y = f.Call([]tf.Output{x}) })
			if _, err := tape.Gradients(y[0], w.Handle(), x); err != nil {
				t.Fatal(err)
			}
			f.Call([]tf.Output{x})
		}
	}
	step(100)
	if grown := growth(func() { step(1000) }); grown > slack {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if traced != 1 {
		t.Errorf("traced %d times", traced)
	}
	tftest.Elements(t, value(t, w.Value()), []float32{2201, 2})
	runtime.KeepAlive(g)
}

// TestFuncGradients: through loops and conditionals, of variables and of
// arguments, twice over.
func TestFuncGradients(t *testing.T) {
	g := eager.New()
	w := tf.NewVariable(ops.Scalar[float64](g, 1.5), tf.VariableOptions{Name: "w"})
	three := ops.Scalar[int32](g, 3)
	f := eager.NewFunc(g, "f", func(x []tf.Output, _ ...any) []tf.Output {
		y := tf.While([]tf.Output{ops.Scalar[int32](g, 0), x[0]},
			func(v []tf.Output) tf.Output { return ops.Less(v[0], three) },
			func(v []tf.Output) []tf.Output {
				return []tf.Output{v[0].Add(ops.Scalar[int32](g, 1)), v[1].Mul(w.Value())}
			})
		return []tf.Output{ops.Sin(y[1])}
	})
	x := ops.Scalar[float64](g, 0.25)
	var first []tf.Output
	outer := eager.Record(g, func() {
		var y []tf.Output
		inner := eager.Record(g, func() { y = f.Call([]tf.Output{x}) })
		var err error
		if first, err = inner.Gradients(y[0], x, w.Handle()); err != nil {
			t.Fatal(err)
		}
	})
	second, err := outer.Gradients(first[0], x)
	if err != nil {
		t.Fatal(err)
	}
	c := math.Pow(1.5, 3)
	tftest.Elements(t, value(t, first[0]), []float64{c * math.Cos(0.25*c)}, tftest.Within(1e-12, 0))
	tftest.Elements(t, value(t, first[1]), []float64{3 * 1.5 * 1.5 * 0.25 * math.Cos(0.25*c)}, tftest.Within(1e-12, 0))
	tftest.Elements(t, value(t, second[0]), []float64{-c * c * math.Sin(0.25*c)}, tftest.Within(1e-12, 0))
}

// TestFuncKeepsRandomNumbers: a gradient is of the numbers that were drawn.
func TestFuncKeepsRandomNumbers(t *testing.T) {
	g := eager.New()
	f := eager.NewFunc(g, "drop", func(x []tf.Output, _ ...any) []tf.Output {
		mask := tf.Apply(g, "RandomUniform", []tf.Output{ops.Const(g, []int32{4})}, tf.Attr("dtype", tf.Float32), tf.Attr("seed", 1), tf.Attr("seed2", 2)).Output(0)
		return []tf.Output{x[0].Mul(mask)}
	})
	x := ops.Const(g, []float32{1, 1, 1, 1})
	for range 3 {
		var y []tf.Output
		tape := eager.Record(g, func() { y = f.Call([]tf.Output{x}) })
		dx, err := tape.Gradients(y[0], x)
		if err != nil {
			t.Fatal(err)
		}
		tftest.Equal(t, value(t, dx[0]), value(t, y[0]))
	}
}

func TestFuncWithinFunc(t *testing.T) {
	g := eager.New()
	square := eager.NewFunc(g, "square", func(x []tf.Output, _ ...any) []tf.Output { return []tf.Output{x[0].Mul(x[0])} })
	fourth := eager.NewFunc(g, "fourth", func(x []tf.Output, _ ...any) []tf.Output { return square.Call(square.Call(x)) })
	tftest.Elements(t, value(t, fourth.Call([]tf.Output{ops.Const(g, []float32{3})})[0]), []float32{81})
	if square.Traces() != 0 {
		t.Error("a function within another was traced on its own")
	}
}

func TestFuncErrors(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2})
	bad := eager.NewFunc(g, "bad", func(x []tf.Output, _ ...any) []tf.Output {
		return []tf.Output{ops.Add(x[0], ops.Const(g, []float32{1, 2, 3}))}
	})
	same := eager.NewFunc(g, "same", func(x []tf.Output, _ ...any) []tf.Output { return x })
	check := eager.NewFunc(g, "check", func(x []tf.Output, _ ...any) []tf.Output {
		return []tf.Output{ops.CheckNumerics(x[0].Sub(x[0]).Div(x[0].Sub(x[0])), "no number")}
	})
	for want, out := range map[string][]tf.Output{
		"must be comparable: argument 0 of same is a []int": same.Call([]tf.Output{x}, []int{1}),
		"Dimensions must be equal":                          bad.Call([]tf.Output{x}),
		"no number":                                         check.Call([]tf.Output{x}),
	} {
		if err := out[0].Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	tftest.Elements(t, value(t, same.Call([]tf.Output{x})[0]), []float32{1, 2})
}

func TestJacobian(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{1, 2, 3})
	var y tf.Output
	tape := eager.Record(g, func() {
		y = ops.Reshape(ops.ConcatV2([]tf.Output{ops.Mul(x, x), x}, ops.Scalar[int32](g, 0)), ops.Const(g, []int32{2, 3}))
	})
	j, err := tape.Jacobian(y, x)
	if err != nil {
		t.Fatal(err)
	}
	if !j[0].Shape().Equal(tf.Shape{2, 3, 3}) {
		t.Errorf("shape %v", j[0].Shape())
	}
	tftest.Elements(t, value(t, j[0]), []float64{2, 0, 0, 0, 4, 0, 0, 0, 6, 1, 0, 0, 0, 1, 0, 0, 0, 1})
}

func TestStopRecording(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3})
	var y tf.Output
	tape := eager.Record(g, func() {
		var c tf.Output
		g.StopRecording(func() { c = ops.Mul(x, x) })
		y = ops.Mul(c, x)
	})
	dx, err := tape.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, value(t, dx[0]), []float64{9})
}

// TestFuncErrorsNameTheLine: an error of an operation in a function, or in one that this
// calls, names the line that added the operation.
func TestFuncErrorsNameTheLine(t *testing.T) {
	g := eager.New()
	_, _, line, _ := runtime.Caller(0)
	inner := eager.NewFunc(g, "inner", func(x []tf.Output, _ ...any) []tf.Output {
		shape := ops.Fill(ops.Const(x[0].Graph(), []int32{2}), ops.Scalar(x[0].Graph(), int32(2))) // not known when traced
		return []tf.Output{ops.Reshape(x[0], shape)}
	})
	outer := eager.NewFunc(g, "outer", func(x []tf.Output, _ ...any) []tf.Output { return inner.Call(x) })
	x := ops.Const(g, []float32{1, 2, 3})
	want := fmt.Sprintf(`func_test.go:%d: Reshape "Reshape"(float32[3], int32[2]): Input to reshape`, line+3)
	for _, f := range []*eager.Func{inner, outer} {
		if _, err := f.Call([]tf.Output{x})[0].Value(); err == nil || !strings.HasPrefix(err.Error(), want) || tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("got %v\nwant %s…", err, want)
		}
	}
}

// TestJacobianOfVariables: by the handle of a variable it is that by the variable's value.
func TestJacobianOfVariables(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), tf.VariableOptions{})
	var y, none tf.Output
	tape := eager.Record(g, func() { y = v.Value().Sum(1); none = y.Slice([]int{0}, []int{0}) })
	for x, want := range map[tf.Output]string{y: "float32[2,2,2]{1, 1, 0, 0, 0, 0, 1, 1}", none: "float32[0,2,2]{}"} {
		j, err := tape.Jacobian(x, v.Handle())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j[0].Value(); err != nil || got.String() != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
	}
}

// TestVariablesAsArguments: handles are told apart by what variables hold.
func TestVariablesAsArguments(t *testing.T) {
	g := eager.New()
	f := eager.NewFunc(g, "count", func(args []tf.Output, _ ...any) []tf.Output {
		x := ops.ReadVariableOp(args[0], tf.Float32)
		return []tf.Output{x.Mul(float32(x.Shape().NumElements()))}
	})
	for n, want := range []string{"float32[0]{}", "float32[1]{1}", "float32[2]{2, 2}", "float32[2]{2, 2}"} {
		ones := slices.Repeat([]float32{1}, min(n, 2))
		v := tf.NewVariable(ops.Const(g, ones, len(ones)), tf.VariableOptions{})
		if got, err := f.Call([]tf.Output{v.Handle()})[0].Value(); err != nil || got.String() != want {
			t.Errorf("%d: got %v, %v; want %s", n, got, err, want)
		}
	}
	if f.Traces() != 3 {
		t.Errorf("%d traces", f.Traces())
	}
}

// TestStaticArgumentsThatHoldLists cannot be compared, though their type says so.
func TestStaticArgumentsThatHoldLists(t *testing.T) {
	type static struct{ v any }
	g := eager.New()
	f := eager.NewFunc(g, "f", func(args []tf.Output, _ ...any) []tf.Output { return args })
	for range 2 {
		out := f.Call([]tf.Output{ops.Scalar(g, float32(1))}, static{[]int{1}})
		if err := out[0].Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	}
	if out := f.Call([]tf.Output{ops.Scalar(g, float32(1))}, static{1}, nil); out[0].Err() != nil {
		t.Error(out[0].Err())
	}
}

// TestFuncOfNaN: NaN is a value as others are, alone and in what holds it.
func TestFuncOfNaN(t *testing.T) {
	type pair struct {
		x float32
		v any
	}
	g, nan := eager.New(), math.NaN()
	f := eager.NewFunc(g, "f", func(x []tf.Output, static ...any) []tf.Output { return x })
	values := []any{nan, float32(nan), complex(0, nan), complex(1, nan), [2]float64{nan, 1}, pair{1, nan}, pair{2, nan}, pair{float32(nan), nil}}
	for range 2 {
		for _, v := range values {
			if err := f.Call([]tf.Output{ops.Scalar(g, float32(1))}, v)[0].Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if f.Traces() != len(values) {
		t.Errorf("%d values made %d traces", len(values), f.Traces())
	}
}
