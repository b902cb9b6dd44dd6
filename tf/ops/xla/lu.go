package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// getrf returns triangles, the pivots, counted from 1, and info.
func getrf(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	lu, pivots, _, err := decomposed(l, op, in[0])
	if err != nil {
		return nil, err
	}
	return []tf.Output{lu, ops.AddV2(pivots, ops.Scalar(l.g, int32(1))), info(l, op, in)}, nil
}

// luDecomposition returns triangles, pivots from 0 on, and the permutation.
func luDecomposition(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	lu, pivots, rows, err := decomposed(l, op, in[0])
	return []tf.Output{lu, pivots, rows}, err
}

// decomposed returns triangles, the row that each row was exchanged with, and the
// permutation that comes of it.
func decomposed(l *lowering, op *stablehlo.Op, x tf.Output) (lu, pivots, rows tf.Output, err error) {
	if err := matrices(op, 0); err != nil {
		return lu, pivots, rows, err
	}
	t := op.Operands[0].Type.Shape
	n := t[len(t)-1]
	if n < 0 || t[len(t)-2] != n {
		return lu, pivots, rows, unsupported(op, "%s must have square matrices of a known size, got shape %v", target(op), t)
	}
	lu, rows = linalg.Lu(x, tf.Attr("_singular", true)) // determinants of 0 are made of such factors
	return lu, exchanges(l.g, rows, sizesOf(x, op.Operands[0].Type)), rows, nil
}

// exchanges returns, for permutations of n rows, the exchanges of rows that make them one
// after the other: row i with row i or a later one.
func exchanges(g *tf.Graph, rows tf.Output, sizes []size) tf.Output {
	n := sizes[len(sizes)-1].n
	batch := sizes[:len(sizes)-2]
	shape := append(append([]size(nil), batch...), known(n))
	columns := upTo(g, known(n))
	now := spreadTo(g, columns, shape)
	axis := len(batch)
	step := func(v []tf.Output) []tf.Output {
		i, now, pivots := v[0], v[1], v[2]
		at := ops.Equal(columns, i)
		want := pick(rows, at, axis)
		found := ops.Cast(ops.Equal(now, want), tf.Int32)
		j := ops.Sum(ops.Mul(found, columns), []int{axis}, ops.ReduceOpts{KeepDims: true})
		now = ops.SelectV2(ops.Equal(columns, j), pick(now, at, axis), now)
		now = ops.SelectV2(at, ops.Scalar(g, int32(-1)), now)
		return []tf.Output{ops.AddV2(i, ops.Scalar(i.Graph(), int32(1))), now, ops.SelectV2(at, j, pivots)}
	}
	if n <= unrolled {
		v := []tf.Output{ops.Scalar(g, int32(0)), now, ops.ZerosLike(now)}
		for range n {
			v = step(v)
		}
		return v[2]
	}
	v := tf.While([]tf.Output{ops.Scalar(g, int32(0)), now, ops.ZerosLike(now)},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(g, int32(n))) }, step)
	return v[2]
}

// unrolled is up to how many rows exchanges needs no loop.
const unrolled = 16

// pick returns the element of x at which a vector is true, as a dimension of size 1.
func pick(x, at tf.Output, axis int) tf.Output {
	return ops.Sum(ops.Mul(x, ops.Cast(at, tf.Int32)), []int{axis}, ops.ReduceOpts{KeepDims: true})
}
