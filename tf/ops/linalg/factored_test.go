package linalg_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// batches are shapes of batches that broadcast to each other.
var batches = []struct{ a, b []int }{{nil, nil}, {nil, []int{3}}, {nil, []int{2, 1}}, {[]int{2}, nil}, {[]int{2}, []int{2}}, {[]int{2}, []int{3, 1}}, {[]int{1, 2}, []int{3, 1}}, {[]int{2, 1}, []int{3}}, {nil, []int{0}}}

func with(batch []int, more ...int) []int { return append(append([]int{}, batch...), more...) }

// TestPermutationsBroadcast: a permutation moves the rows of each matrix of a batch, and
// each of a batch of permutations those of a matrix.
func TestPermutationsBroadcast(t *testing.T) {
	g := eager.New()
	for _, c := range batches {
		order := ops.ArgSort(ops.ConstValue(g, noise(with(c.a, 3)...)), -1, false)
		o := linalg.LinearOperatorPermutation(order, tf.Float32)
		x, dense := ops.ConstValue(g, noise(with(c.b, 3, 2)...)), linalg.LinearOperatorFullMatrix(o.ToDense())
		same(t, o.MatMul(x), dense.MatMul(x))
		same(t, o.Solve(x), linalg.LinearOperatorAdjoint(dense).MatMul(x))
	}
}

// TestLuSolveBroadcasts: one factored matrix solves for each of a batch.
func TestLuSolveBroadcasts(t *testing.T) {
	g := eager.New()
	for _, c := range batches {
		a, b := ops.ConstValue(g, regular(with(c.a, 3, 3)...)), ops.ConstValue(g, noise(with(c.b, 3, 2)...))
		a = ops.Reverse(a, []int{-2}) // so that rows are exchanged
		lu, p := linalg.Lu(a)
		same(t, ops.BatchMatMulV2(a, linalg.LuSolve(lu, p, b)), ops.AddV2(b, ops.ZerosLike(a.At("..., :2"))))
	}
}

// same checks that got is about want.
func same(t *testing.T, got, want tf.Output) {
	t.Helper()
	x, err := got.Value()
	y, wrong := want.Value()
	if err != nil || wrong != nil {
		t.Errorf("got %v, want %v of %v", err, wrong, want.Shape())
		return
	}
	tftest.Equal(t, x, y, tftest.Within(1e-4, 1e-4))
}
