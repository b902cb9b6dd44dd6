package clampedsum_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/docs/clampedsum"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func ExampleClampedSum() {
	g := eager.New()
	x := ops.Const(g, []float32{0.5, 2, -3})
	z, err := clampedsum.ClampedSum(x, x, 1.5).Value()
	fmt.Println(z, err)
	// Output: float32[3]{1, 1.5, -1.5} <nil>
}

func TestGradient(t *testing.T) {
	x, err := tf.FromSlice([]float64{0.5, 2, -3, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	tftest.Gradients(t, eager.New(), func(in []tf.Output) tf.Output {
		return clampedsum.ClampedSum(in[0], in[0], 1.5)
	}, x)
}

func TestRefuses(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{1, 2, 3})
	if err := clampedsum.ClampedSum(x, y, 1).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("shapes that differ: %v", err)
	}
	e := eager.New()
	z := ops.Const(e, []float32{1})
	if _, err := clampedsum.ClampedSum(z, z, -1).Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a negative limit: %v", err)
	}
}
