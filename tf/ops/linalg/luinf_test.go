package linalg_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestLuOfInfinity: a complex pivot that is infinite makes NaN of the rows below it, a
// real one 0, as in TensorFlow 2.21.
func TestLuOfInfinity(t *testing.T) {
	g := eager.New()
	inf := math.Inf(1)
	for _, pivot := range []complex128{complex(inf, 0), complex(inf, inf), complex(0, inf), complex(inf, math.NaN())} {
		lu, _ := linalg.Lu(ops.Const(g, []complex128{pivot, 1, 1, 1}, 2, 2))
		v, err := lu.Value()
		if err != nil {
			t.Fatal(err)
		}
		if y := tf.Data[complex128](v); !cmplx.IsNaN(y[2]) || !cmplx.IsNaN(y[3]) {
			t.Errorf("%v: got %v, want NaN below", pivot, y)
		}
	}
	lu, _ := linalg.Lu(ops.Const(g, []float64{inf, 1, 1, 1}, 2, 2))
	if v, err := lu.Value(); err != nil || tf.Data[float64](v)[2] != 0 || tf.Data[float64](v)[3] != 1 {
		t.Errorf("got %v, %v, want 0 and 1 below", v, err)
	}
}

// TestLogDeterminantOfSubnormal has the least numbers for pivots.
func TestLogDeterminantOfSubnormal(t *testing.T) {
	_, log := linalg.LogMatrixDeterminant(ops.Const(eager.New(), []float64{1e-310}, 1, 1))
	v, err := log.Value()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tf.Data[float64](v)[0], -713.8013788281542; math.Abs(got-want) > 1e-9 {
		t.Errorf("want %v, got %v", want, got)
	}
}
