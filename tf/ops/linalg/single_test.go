package linalg_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestSingle compares what is computed in float32 with float64.
func TestSingle(t *testing.T) {
	const n = 80
	a := noise(2, n, n)
	for i, v := range core.Data[float32](a) {
		if i/n%n == i%n {
			core.Data[float32](a)[i] = v + 40
		}
	}
	x := ops.ConstValue(eager.New(), a)
	spd := ops.BatchMatMulV2(x, x, ops.BatchMatMulOpts{AdjY: true})
	for name, f := range map[string]func(x, spd tf.Output) tf.Output{
		"Cholesky":       func(_, spd tf.Output) tf.Output { return linalg.Cholesky(spd) },
		"Lu":             func(x, _ tf.Output) tf.Output { lu, _ := linalg.Lu(x); return lu },
		"MatrixInverse":  func(x, _ tf.Output) tf.Output { return linalg.MatrixInverse(x, linalg.AdjointOpts{Adjoint: true}) },
		"MatrixSolve":    func(x, _ tf.Output) tf.Output { return linalg.MatrixSolve(x, x) },
		"LogDeterminant": func(x, _ tf.Output) tf.Output { _, log := linalg.LogMatrixDeterminant(x); return log },
		"lower triangle": func(x, _ tf.Output) tf.Output { return linalg.MatrixTriangularSolve(x, x) },
		"upper adjoint one": func(x, _ tf.Output) tf.Output {
			return linalg.MatrixTriangularSolve(x, x, linalg.TriangleOpts{Upper: true, Adjoint: true})
		},
	} {
		want, err := f(ops.Cast(x, tf.Float64), ops.Cast(spd, tf.Float64)).Value()
		got, err2 := f(x, spd).Value()
		if err != nil || err2 != nil {
			t.Fatal(name, err, err2)
		}
		for i, w := range tf.Data[float64](want) {
			if v := float64(tf.Data[float32](got)[i]); !(math.Abs(v-w) <= 1e-5*max(1, math.Abs(w))) {
				t.Errorf("%s: element %d is %v, want %v", name, i, v, w)
				break
			}
		}
	}
}

// diagonalOf returns a matrix of float64.
func diagonalOf(x []float64) tf.Output {
	g := eager.New()
	return ops.MatrixDiagV3(ops.Const(g, x), ops.Scalar(g, int32(0)), ops.Scalar(g, int32(-1)), ops.Scalar(g, int32(-1)), ops.Scalar(g, 0.0))
}
