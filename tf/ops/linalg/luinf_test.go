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

// TestSubnormalIsSingular: in TensorFlow, whose threads take subnormal numbers for 0, such a
// matrix has no inverse; it is not NaN.
func TestSubnormalIsSingular(t *testing.T) {
	few, normal := make([]float64, 80), make([]float64, 80)
	for i := range few {
		few[i], normal[i] = 1e-320, 1e-40
	}
	x, single := diagonalOf(few), ops.Cast(diagonalOf(normal), tf.Float32)
	lu, _ := linalg.Lu(x)
	for _, y := range []tf.Output{lu, linalg.MatrixInverse(x), linalg.MatrixSolve(x, x), linalg.MatrixInverse(single), linalg.MatrixSolve(single, single)} {
		if v, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("got %v, %v, want an error", v, err)
		}
	}
}

// TestEigenvalueOfNaN: a single number is its eigenvalue, whatever it is.
func TestEigenvalueOfNaN(t *testing.T) {
	e, v := linalg.SelfAdjointEigV2(ops.Const(eager.New(), []float32{float32(math.NaN())}, 1, 1))
	x, err := e.Value()
	if err != nil {
		t.Fatal(err)
	}
	one, err := v.Value()
	if got := float64(tf.Data[float32](x)[0]); err != nil || !math.IsNaN(got) || tf.Data[float32](one)[0] != 1 {
		t.Errorf("got %v and %v, %v, want NaN and 1", got, one, err)
	}
}
