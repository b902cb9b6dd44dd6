package eager_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

func Example() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3})
	v, err := x.Square().Sum().Value()
	fmt.Println(v, err)
	// Output: float32[]{14} <nil>
}

// A mistake stays with the outputs that depend on it; Value returns it.
func ExampleNew_mistake() {
	g := eager.New()
	x, y := ops.Const(g, []float32{1, 2, 3}), ops.Const(g, []float32{1, 2})
	z := x.Add(y).Square().Sum() // x and y do not fit
	_, err := z.Value()
	fmt.Println(tf.CodeOf(err), tf.AsError(err).Op)
	// Output: INVALID_ARGUMENT AddV2
}

// Go's control flow works on the values of an eager graph.
func ExampleNew_controlFlow() {
	g := eager.New()
	x, n := ops.Scalar[float32](g, 1), 0
	for {
		v, err := x.Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		if tf.Data[float32](v)[0] > 1000 {
			break
		}
		x, n = x.Add(x), n+1
	}
	fmt.Println(n)
	// Output: 10
}

// Record gives a tape, through which gradients are taken.
func ExampleRecord() {
	g := eager.New()
	x := ops.Scalar[float32](g, 3)
	var y tf.Output
	tape := eager.Record(g, func() { y = x.Mul(x).Mul(x) })
	dx, err := tape.Gradients(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := dx[0].Value() // 3·x²
	fmt.Println(v, err)
	// Output: float32[]{27} <nil>
}

// Training, step by step: a tape gives gradients, an optimizer applies them.
func ExampleRecord_training() {
	g := eager.New()
	w := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
	sgd := train.GradientDescent{LearningRate: 0.25}
	for range 20 {
		var loss tf.Output
		tape := eager.Record(g, func() { loss = w.Value().Sub(ops.Scalar[float32](g, 5)).Square() })
		gvs, err := train.TapeGradients(tape, loss, w)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := sgd.ApplyGradients(gvs); err != nil {
			fmt.Println(err)
			return
		}
	}
	v, err := w.Value().Round().Value()
	fmt.Println(v, err)
	// Output: float32[]{5} <nil>
}

// A Func is traced for each signature that it is called with, and runs as a
// whole.
func ExampleFunc() {
	g := eager.New()
	f := eager.NewFunc(g, "norm", func(args []tf.Output, _ ...any) []tf.Output {
		fmt.Println("tracing for", args[0].Shape())
		return []tf.Output{args[0].Square().Sum().Sqrt()}
	})
	for _, x := range [][]float32{{3, 4}, {6, 8}, {2, 3, 6}} {
		v, err := f.Call([]tf.Output{ops.Const(g, x)})[0].Value()
		fmt.Println(v, err)
	}
	fmt.Println(f.Traces())
	// Output:
	// tracing for [2]
	// float32[]{5} <nil>
	// float32[]{10} <nil>
	// tracing for [3]
	// float32[]{7} <nil>
	// 2
}

// Values on which the function depends in Go follow the tensors.
func ExampleNewFunc() {
	g := eager.New()
	power := eager.NewFunc(g, "power", func(args []tf.Output, static ...any) []tf.Output {
		y := args[0]
		for range static[0].(int) - 1 {
			y = y.Mul(args[0])
		}
		return []tf.Output{y}
	})
	x := ops.Scalar[float32](g, 2)
	for _, n := range []int{3, 10} {
		v, err := power.Call([]tf.Output{x}, n)[0].Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[]{8} <nil>
	// float32[]{1024} <nil>
}

// Texts of many lengths: the function is traced once for all of them.
func ExampleFuncOptions() {
	g := eager.New()
	mean := eager.NewFunc(g, "mean", func(args []tf.Output, _ ...any) []tf.Output {
		return []tf.Output{args[0].Mean()}
	}).With(eager.FuncOptions{Signature: []tf.ArgSpec{{DType: tf.Float32, Shape: tf.Shape{-1}}}})
	for _, x := range [][]float32{{1, 2}, {1, 2, 3}, {7}} {
		fmt.Println(mean.Call([]tf.Output{ops.Const(g, x)})[0].Value())
	}
	fmt.Println("traces:", mean.Traces())
	// Output:
	// float32[]{1.5} <nil>
	// float32[]{2} <nil>
	// float32[]{7} <nil>
	// traces: 1
}
