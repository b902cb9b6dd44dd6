package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func init() {
	add(map[string]rule{
		"cholesky":         checked(1, choleskyOp),
		"triangular_solve": checked(2, triangularSolve),
	})
}

// matrices checks that an operand has matrices.
func matrices(op *stablehlo.Op, operand int) error {
	if s := op.Operands[operand].Type.Shape; len(s) < 2 {
		return refused(op, "operand %d must be of rank 2 or more, got shape %v", operand, s)
	}
	return nil
}

func choleskyOp(_ *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := &reading{op: op}
	lower := r.flag("lower")
	if r.err == nil {
		r.err = matrices(op, 0)
	}
	if r.err != nil {
		return nil, r.err
	}
	return one(cholesky(in[0], lower)), nil
}

// cholesky returns the factor that is a lower or an upper triangle, from the triangle of
// the same side.
func cholesky(x tf.Output, lower bool) tf.Output {
	if lower {
		return linalg.Cholesky(x)
	}
	return linalg.Adjoint(linalg.Cholesky(linalg.Adjoint(x)))
}

// A triangle says how triangles are solved for: t(a)·x = b, or x·t(a) = b on the right.
type triangle struct {
	right, lower, unit bool
	transpose          string // what t does, a word of StableHLO's
}

func triangularSolve(_ *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := &reading{op: op}
	t := triangle{right: !r.flag("left_side"), lower: r.flag("lower"), unit: r.flag("unit_diagonal"), transpose: r.word("transpose_a")}
	if r.err == nil {
		r.err = matrices(op, 0)
	}
	if r.err == nil {
		r.err = rankOf(op, 1, len(op.Operands[0].Type.Shape))
	}
	if r.err == nil && !slices.Contains([]string{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}, t.transpose) {
		r.fail("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT, got %q", t.transpose)
	}
	if r.err != nil {
		return nil, r.err
	}
	return one(t.solved(in[0], in[1])), nil
}

func (t triangle) solved(a, b tf.Output) tf.Output {
	if t.unit {
		diagonal := ops.OnesLike(ops.MatrixDiagPart(a))
		a = ops.MatrixSetDiag(a, diagonal)
	}
	if isComplex(a.DType()) && t.transpose == "TRANSPOSE" {
		a = ops.Conj(a)
	}
	adjoint := t.transpose != "NO_TRANSPOSE"
	if !t.right {
		return linalg.MatrixTriangularSolve(a, b, linalg.TriangleOpts{Upper: !t.lower, Adjoint: adjoint})
	}
	// x·t(a) = b is t(a)ᴴ·xᴴ = bᴴ.
	x := linalg.MatrixTriangularSolve(a, linalg.Adjoint(b), linalg.TriangleOpts{Upper: !t.lower, Adjoint: !adjoint})
	return linalg.Adjoint(x)
}
