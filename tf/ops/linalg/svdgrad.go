package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func svdGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a := op.Input(0)
	ds := orZeros(op, dy, 0)
	if !op.Bool("compute_uv") {
		_, u, v := Svd(a)
		return tf.Grads(mul(u, mulAdjointY(diagonal(ds), v)))
	}
	du, dv := orZeros(op, dy, 1), orZeros(op, dy, 2)
	shape := a.Shape()
	if len(shape) < 2 || shape[len(shape)-2] < 0 || shape[len(shape)-1] < 0 {
		return refuse(op, "SVD gradient has not been implemented for input with unknown inner matrix shape.")
	}
	_, m, n := sizes(shape)
	g := svdGradient{op.Output(0), op.Output(1), op.Output(2), ds, du, dv, m, n, op.Bool("full_matrices")}
	if g.full && (m-n > 1 || n-m > 1) {
		return refuse(op, "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: m=%d and n=%d from op input=%v with shape=%v.", m, n, a, shape)
	}
	if m > n { // that of the adjoint
		g.u, g.v, g.du, g.dv, g.m, g.n = g.v, g.u, g.dv, g.du, n, m
		return tf.Grads(adjoint(g.wide()))
	}
	return tf.Grads(g.wide())
}

// A svdGradient is what the gradient of Svd is made of.
type svdGradient struct {
	s, u, v    tf.Output
	ds, du, dv tf.Output
	m, n       int
	full       bool
}

// wide returns the gradient for matrices that have no more rows than columns.
func (g *svdGradient) wide() tf.Output {
	v1, dv1 := window(g.v, -1, 0, g.m), window(g.dv, -1, 0, g.m)
	f := differences(ops.Square(g.s))
	values, inverse := diagonal(g.s), diagonal(safeReciprocal(g.s))
	vdv := mulAdjointX(v1, dv1)
	fu, fv := ops.Mul(f, mulAdjointX(g.u, g.du)), ops.Mul(f, vdv)
	middle := ops.AddV2(ops.AddV2(diagonal(g.ds), mul(ops.AddV2(fu, adjoint(fu)), values)), mul(values, ops.AddV2(fv, adjoint(fv))))
	da := mul(g.u, mulAdjointY(middle, v1))
	if g.m != g.n {
		da = ops.AddV2(da, mul(mul(g.u, inverse), g.outside(v1, dv1)))
	}
	if !g.s.DType().IsComplex() {
		return da
	}
	l := diagonal(diagonalOf(vdv))
	phase := mul(g.u, mulAdjointY(mul(inverse, ops.Sub(adjoint(l), l)), v1))
	return ops.AddV2(da, ops.Mul(constLike(phase, 0.5), phase))
}

// outside returns what lies outside of the space that the columns of v1 span.
func (g *svdGradient) outside(v1, dv1 tf.Output) tf.Output {
	t := adjoint(dv1)
	out := ops.Sub(t, mulAdjointY(mul(t, v1), v1))
	if !g.full {
		return out
	}
	v2, dv2 := window(g.v, -1, g.m, g.n), window(g.dv, -1, g.m, g.n)
	return ops.Sub(out, mulAdjointY(mulAdjointX(v1, dv2), v2))
}
