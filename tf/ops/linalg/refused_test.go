package linalg_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestRefusedOperands: what is composed of operations refuses what these do, and tells why
// an operand cannot be computed; it does not panic.
func TestRefusedOperands(t *testing.T) {
	g := eager.New()
	whole := linalg.LinearOperatorDiag(ops.Const(g, []int32{1, 2}))
	for name, x := range map[string]tf.Output{
		"bools": ops.Const(g, []bool{true, false}), "strings": ops.Const(g, []string{"a", "b"}), "a scalar": ops.Scalar[float32](g, 1),
		"a failure": tf.Failed(tf.NewGraph(), "f", tf.Errorf(tf.InvalidArgument, "bad")).Output(0), "nothing": {},
	} {
		house := linalg.LinearOperatorHouseholder(x)
		solution, _ := linalg.ConjugateGradient(whole, x, 1e-6, 3)
		for what, y := range map[string]tf.Output{
			"Householder": house.MatMul(x), "dense Householder": house.ToDense(), "ConjugateGradient": solution,
			"FullMatrix": linalg.LinearOperatorFullMatrix(x).MatMul(x), "Composition": linalg.LinearOperatorComposition(house, house).MatVec(x),
		} {
			if tf.CodeOf(y.Err()) != tf.InvalidArgument {
				t.Errorf("%s of %s: got %v, want INVALID_ARGUMENT", what, name, y.Err())
			}
		}
	}
	if x, _ := linalg.ConjugateGradient(whole, ops.Const(g, []int32{1, 2}), 1e-6, 3); tf.CodeOf(x.Err()) != tf.InvalidArgument {
		t.Errorf("ConjugateGradient of integers: got %v, want INVALID_ARGUMENT", x.Err())
	}
}

// TestNoGraph: what takes no operand needs a graph.
func TestNoGraph(t *testing.T) {
	for name, y := range map[string]tf.Output{
		"Eye": linalg.Eye(nil, 2, 2, tf.Float32), "Identity": linalg.LinearOperatorIdentity(nil, 2, tf.Float32).ToDense(),
		"Zeros": linalg.LinearOperatorZeros(nil, 2, 3, tf.Float32).ToDense(),
	} {
		if err := y.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "needs a graph, got nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCausesAreTold: an operand that cannot be computed is not said to have the wrong shape.
func TestCausesAreTold(t *testing.T) {
	g := eager.New()
	x, bad := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), tf.Failed(g, "f", tf.Errorf(tf.InvalidArgument, "bad luck")).Output(0)
	for name, y := range map[string]tf.Output{
		"Permutation": linalg.LinearOperatorPermutation(bad, tf.Float32).MatMul(x),
		"LuSolve":     linalg.LuSolve(x, bad, x),
		"BlockDiag":   linalg.LinearOperatorBlockDiag(linalg.LinearOperatorFullMatrix(bad), linalg.LinearOperatorFullMatrix(x)).ToDense(),
		"Tensordot":   linalg.Tensordot(x, bad, []int{0}, []int{0}),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), "bad luck") {
			t.Errorf("%s: got %v, want the cause", name, err)
		}
	}
}
