package linalg_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestSingularValuesOfComplexMatrices: what compares singular values takes complex
// matrices, too.
func TestSingularValuesOfComplexMatrices(t *testing.T) {
	g := eager.New()
	for _, d := range []tf.DType{tf.Complex64, tf.Complex128} {
		x := ops.Cast(ops.Const(g, []complex128{0, 4i, 2, 0, 0, 0}, 3, 2), d)
		normal, norm := linalg.Normalize(x, 2, []int{0, 1})
		for name, c := range map[string]struct {
			got  tf.Output
			want string
		}{
			"norm":       {ops.Cast(linalg.Norm(x, 2, []int{0, 1}, false), tf.Float64), "[4]"},
			"Normalize":  {ops.Cast(norm, tf.Float64), "[4]"},
			"normalized": {ops.Imag(ops.Cast(normal, tf.Complex128)), "[0 1 0 0 0 0]"},
			"rank":       {ops.Cast(linalg.MatrixRank(x, -1), tf.Float64), "[2]"},
			"rank above": {ops.Cast(linalg.MatrixRank(x, 3), tf.Float64), "[1]"},
			"pinv":       {ops.Imag(ops.Cast(linalg.Pinv(x, -1), tf.Complex128)), "[0 0 0 -0.25 0 0]"},
			"pinv above": {ops.Real(ops.Cast(linalg.Pinv(x, 0.6), tf.Complex128)), "[0 0 0 0 0 0]"},
		} {
			v, err := c.got.Value()
			if err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
				continue
			}
			x := tf.Data[float64](v)
			for i := range x {
				x[i] += 0 // -0 is 0
			}
			if got := fmt.Sprint(x); got != c.want {
				t.Errorf("%s of %v: got %s, want %s", name, d, got, c.want)
			}
		}
	}
}

// TestAxesOfMatrixNorms: axes that are no two of the matrix are refused, as in TensorFlow.
func TestAxesOfMatrixNorms(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	for _, p := range []linalg.Order{linalg.Euclidean, 1, 2, linalg.Order(math.Inf(1))} {
		for _, axes := range [][]int{{1, 1}, {0, -2}, {0, 3}, {-3, 1}} {
			if y := linalg.Norm(x, p, axes, false); tf.CodeOf(y.Err()) != tf.InvalidArgument {
				v, _ := y.Value()
				t.Errorf("order %v, axes %v: got %v, %v, want INVALID_ARGUMENT", p, axes, v, y.Err())
			}
		}
	}
	if y := linalg.Norm(ops.Placeholder(tf.NewGraph(), tf.Float32, nil), 1, []int{1, 1}, false); tf.CodeOf(y.Err()) != tf.InvalidArgument {
		t.Errorf("unknown rank: got %v, want INVALID_ARGUMENT", y.Err())
	}
}
