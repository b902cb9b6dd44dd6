package tftest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// Diff returns "" for tensors that agree, within the given limits.
func ExampleDiff() {
	want, got := tf.Scalar(1.0), tf.Scalar(1.0001)
	fmt.Println(tftest.Diff(want, got) == "")
	fmt.Println(tftest.Diff(want, got, tftest.Within(1e-3, 0)) == "")
	// Output:
	// false
	// true
}

// Comparer lets package cmp compare structures that hold tensors.
func ExampleComparer() {
	type model struct{ W *tf.Tensor }
	a, b := model{tf.Scalar[float32](1)}, model{tf.Scalar[float32](1)}
	fmt.Println(cmp.Equal(a, b, tftest.Comparer()))
	// Output: true
}

// inTest stands for the *testing.T of a test.
type inTest struct{ testing.TB }

func (inTest) Helper() {}

func (inTest) Error(...any) { fmt.Println("the test fails") }

func (inTest) Errorf(string, ...any) { fmt.Println("the test fails") }

// Elements compares the elements of a tensor in a test.
func ExampleElements() {
	var t inTest // in a test, its *testing.T
	v, err := ops.Const(eager.New(), []float64{3, 4}).Square().Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tftest.Elements(t, v, []float64{9, 16}, tftest.ULP(1)))
	fmt.Println(tftest.Elements(t, v, []float64{9, 17}))
	// Output:
	// true
	// the test fails
	// false
}

// Gradients compares the gradients of a function with finite differences.
func ExampleGradients() {
	var t inTest // in a test, its *testing.T
	x, err := tf.FromSlice([]float64{0.5, 1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	logSquared := func(x []tf.Output) tf.Output { return x[0].Log().Square() }
	fmt.Println(tftest.Gradients(t, eager.New(), logSquared, x))
	// Output: true
}
