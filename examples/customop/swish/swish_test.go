package swish_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/examples/customop/swish"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

var points = []float64{-20, -2, -0.5, 0, 0.5, 2, 20}

func TestSwish(t *testing.T) {
	g := eager.New()
	y, err := swish.Swish(ops.Const(g, points), 2).Value()
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, len(points))
	for i, x := range points {
		want[i] = x / (1 + math.Exp(-2*x))
	}
	tftest.Elements(t, y, want, tftest.Within(1e-15, 0))
}

// TestGradients compares the gradient with differences.
func TestGradients(t *testing.T) {
	x, err := tf.FromSlice([]float64{-2, -0.5, 0.25, 3})
	if err != nil {
		t.Fatal(err)
	}
	tftest.Gradients(t, eager.New(), func(in []tf.Output) tf.Output { return swish.Swish(in[0], 1.5) }, x)
}

func TestOtherTypesAreRefused(t *testing.T) {
	if err := swish.Swish(ops.Const(tf.NewGraph(), []int32{1}), 1).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}
