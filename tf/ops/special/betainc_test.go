package special_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

// TestBetaincOfScalars: the result of three scalars is a scalar.
func TestBetaincOfScalars(t *testing.T) {
	g := eager.New()
	v, err := special.Betainc(ops.Scalar(g, 1.0), ops.Scalar(g, 1.0), ops.Scalar(g, 0.25)).Value()
	if err != nil || v.Rank() != 0 || math.Abs(tf.Data[float64](v)[0]-0.25) > 1e-12 {
		t.Errorf("got %v, %v, want 0.25", v, err)
	}
}

// TestBetaincAtTheEnds: x of 0 and 1 give themselves even if a or b is NaN, as in
// TensorFlow 2.21.
func TestBetaincAtTheEnds(t *testing.T) {
	g, nan := eager.New(), math.NaN()
	x := ops.Const(g, []float64{0, 1, 0.25, -1, nan}, 5)
	for _, p := range [][2]float64{{nan, 2}, {2, nan}, {nan, nan}} {
		v, err := special.Betainc(ops.Scalar(g, p[0]), ops.Scalar(g, p[1]), x).Value()
		if err != nil {
			t.Fatal(err)
		}
		if y := tf.Data[float64](v); y[0] != 0 || y[1] != 1 || y[2] == y[2] || y[3] == y[3] || y[4] == y[4] {
			t.Errorf("%v: got %v, want [0 1 NaN NaN NaN]", p, y)
		}
	}
}
