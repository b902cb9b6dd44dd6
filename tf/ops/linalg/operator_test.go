package linalg_test

import (
	"context"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
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

// TestDenseInLoops: the matrix that a loop has computed is not kept, since it has no value
// outside. The same holds for functions.
func TestDenseInLoops(t *testing.T) {
	g := tf.NewGraph()
	o := linalg.LinearOperatorKronecker(linalg.LinearOperatorDiag(ops.Const(g, []float32{1, 2})), linalg.LinearOperatorDiag(ops.Const(g, []float32{1})))
	b := ops.Const(g, []float32{1, 2})
	x, _ := linalg.ConjugateGradient(o, b, 1e-6, 10)
	f := tf.NewFunction(g, "product", tf.SpecOf(b), func(v []tf.Output) []tf.Output { return []tf.Output{o.MatVec(v[0])} })
	y := f.Call([]tf.Output{b})[0]
	z := o.SolveVec(b)
	if kept := o.ToDense(); o.ToDense() != kept {
		t.Error("the matrix is not kept")
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, x, y, z)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float32{{1, 1}, {1, 4}, {1, 1}} {
		tftest.Elements(t, out[i], want, tftest.Within(1e-5, 1e-5))
	}
}

// TestManyIterations: a limit beyond int32 is none.
func TestManyIterations(t *testing.T) {
	g := eager.New()
	o := linalg.LinearOperatorDiag(ops.Const(g, []float32{1, 2}))
	for _, most := range []int{10, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt} {
		x, taken := linalg.ConjugateGradient(o, ops.Const(g, []float32{1, 2}), 1e-6, most)
		same(t, x, ops.Const(g, []float32{1, 1}))
		same(t, taken, ops.Scalar[int32](g, 2))
	}
}

// TestRowsOfDiagonals: a diagonal is not broadcast along the rows of what it multiplies.
func TestRowsOfDiagonals(t *testing.T) {
	g := eager.New()
	for name, o := range map[string]linalg.LinearOperator{
		"Diag":           linalg.LinearOperatorDiag(ops.Const(g, []float32{1, 2, 3})),
		"ScaledIdentity": linalg.LinearOperatorScaledIdentity(3, ops.Scalar[float32](g, 2)),
	} {
		for _, s := range [][]int{{1, 2}, {2, 1, 2}, {3}} {
			x := ops.ConstValue(g, noise(s...))
			for what, y := range map[string]tf.Output{"MatMul": o.MatMul(x), "Solve": o.Solve(x)} {
				if tf.CodeOf(y.Err()) != tf.InvalidArgument {
					t.Errorf("%s of %s, matrices %v: got %v, want INVALID_ARGUMENT", what, name, s, y.Err())
				}
			}
		}
		if err := o.Solve(ops.ConstValue(g, noise(2, 3, 1))).Err(); err != nil {
			t.Error(err)
		}
	}
}

// TestSolveBroadcasts: what MatMul broadcasts, Solve does, too.
func TestSolveBroadcasts(t *testing.T) {
	g := eager.New()
	for _, c := range batches {
		b := ops.ConstValue(g, noise(with(c.b, 3, 2)...))
		m, d := ops.ConstValue(g, regular(with(c.a, 3, 3)...)), ops.ConstValue(g, noise(with(c.a, 3, 3)...))
		for name, o := range map[string]linalg.LinearOperator{
			"FullMatrix": linalg.LinearOperatorFullMatrix(m),
			"Tridiag":    linalg.LinearOperatorTridiag(d),
			"Kronecker":  linalg.LinearOperatorKronecker(linalg.LinearOperatorFullMatrix(m)),
		} {
			t.Run(name, func(t *testing.T) {
				want := ops.AddV2(b, ops.ZerosLike(m.At("..., :2")))
				same(t, o.MatMul(o.Solve(b)), want)
				a := linalg.LinearOperatorAdjoint(o)
				same(t, a.MatMul(a.Solve(b)), want)
			})
		}
	}
}
