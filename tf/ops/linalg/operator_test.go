package linalg_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestOperatorsOfNothing: TensorFlow refuses an empty list of operators, too.
func TestOperatorsOfNothing(t *testing.T) {
	for name, o := range map[string]linalg.LinearOperator{
		"Composition": linalg.LinearOperatorComposition(),
		"Kronecker":   linalg.LinearOperatorKronecker(),
		"BlockDiag":   linalg.LinearOperatorBlockDiag(),
	} {
		x := ops.Const(eager.New(), []float32{1}, 1, 1)
		for what, y := range map[string]tf.Output{"ToDense": o.ToDense(), "MatMul": o.MatMul(x), "Solve": o.Solve(x), "Determinant": o.Determinant()} {
			if tf.CodeOf(y.Err()) != tf.InvalidArgument {
				t.Errorf("%s of %s: got %v, want INVALID_ARGUMENT", what, name, y.Err())
			}
		}
	}
}

// TestToeplitzOfDifferentLengths: the corner of a longer row would not be on the diagonal.
func TestToeplitzOfDifferentLengths(t *testing.T) {
	g := eager.New()
	for _, n := range []int{1, 3} {
		o := linalg.LinearOperatorToeplitz(ops.Const(g, []float32{1, 2}), ops.Const(g, make([]float32, n)))
		if err := o.ToDense().Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("a row of %d, a column of 2: got %v, want INVALID_ARGUMENT", n, err)
		}
	}
}
