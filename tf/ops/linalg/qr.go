package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "Qr", In: "input: T", Out: "q: T; r: T", Attrs: "full_matrices: bool = false; T: {" + matrixTypes + "}",
		Shape: qrShape, Expensive: true, Grad: tf.GradFunc(qrGrad), Kernels: core.ByType("T", withHalf(solved(&qrProblem, qr[float64], qr[complex128]))),
	})
}

// QrOpts is the optional attribute of Qr: FullMatrices asks for all columns
// of q, not only those that r needs.
type QrOpts struct{ FullMatrices bool }

// Apply sets the attribute.
func (o QrOpts) Apply(s *tf.Spec) { s.Set("full_matrices", o.FullMatrices) }

// Qr factors matrices [M N] into q, whose columns are orthonormal, and upper
// triangles r, of shapes [M P] and [P N], where P is the smaller of M and N,
// or M by QrOpts. The method is that of Householder (1958). x has
// floating-point or complex numbers (float16, float32, float64, complex64,
// complex128) and may have dimensions before M and N, which q and r keep with
// the type. A rank below 2 is refused with INVALID_ARGUMENT, when the graph
// is built if it is known, else in the step.
func Qr(x tf.Output, opts ...tf.Option) (q, r tf.Output) {
	op := tf.Apply(nil, "Qr", []tf.Output{x}, opts...)
	return op.Output(0), op.Output(1)
}

func qrShape(c *core.Infer) error {
	s, err := atLeastMatrix(c, 0)
	if err != nil || s == nil {
		return err
	}
	batch, m, n := sizes(s)
	p := least(m, n)
	if c.Bool("full_matrices") {
		p = m
	}
	c.Set(0, append(batch, m, p))
	c.Set(1, append(batch, p, n))
	return nil
}

var qrProblem = problem{
	matrices: 1, check: one, cost: cubic(3),
	results: func(n *core.Node, s []tf.Shape) []tf.Shape {
		rows, cols := s[0][0], s[0][1]
		p := min(rows, cols)
		if n.Bool("full_matrices") {
			p = rows
		}
		return []tf.Shape{{rows, p}, {p, cols}}
	},
}

func qr[T scalar](*core.Node) solver[T, T] {
	return func(in, out []matrix[T]) error {
		reflections := triangularize(in[0])
		reflections.setProduct(out[0])
		out[1].copyFrom(in[0])
		return nil
	}
}

// qrGrad follows what Walter and Lehmann derived, for matrices that have no
// more columns than rows; of others the columns that are left over depend on
// q and r alone.
func qrGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	q, r := op.Output(0), op.Output(1)
	dq, dr := orZeros(op, dy, 0), orZeros(op, dy, 1)
	sq, sr := q.Shape(), r.Shape()
	if sr == nil || sr[len(sr)-2] < 0 || sr[len(sr)-1] < 0 {
		return refuse(op, "QrGrad not implemented with dynamic shapes. Received r.shape: %v", sr)
	}
	_, p, n := sizes(sr)
	_, m, full := sizes(sq)
	switch {
	case p > n && m == full:
		return refuse(op, "QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape=%v with nrows=%d and ncols=%d.", sr, p, n)
	case m >= n:
		return tf.Grads(deepQrGrad(q, r, dq, dr))
	}
	rest, dv := window(op.Input(0), -1, m, toEnd), window(dr, -1, m, toEnd)
	dx := deepQrGrad(q, window(r, -1, 0, m), ops.AddV2(dq, mulAdjointY(rest, dv)), window(dr, -1, 0, m))
	return tf.Grads(ops.ConcatV2([]tf.Output{dx, mul(q, dv)}, number(q, -1)))
}

// timesInverseAdjoint returns x·(r⁻¹)ᴴ for upper triangles r.
func timesInverseAdjoint(x, r tf.Output) tf.Output {
	return adjoint(MatrixTriangularSolve(r, adjoint(x), TriangleOpts{Upper: true}))
}

func deepQrGrad(q, r, dq, dr tf.Output) tf.Output {
	qdq, rdr := mulAdjointX(q, dq), mulAdjointY(r, dr)
	lower := band(ops.AddV2(ops.Sub(qdq, adjoint(qdq)), ops.Sub(rdr, adjoint(rdr))), -1, 0)
	da := mul(q, ops.AddV2(dr, timesInverseAdjoint(lower, r)))
	db := timesInverseAdjoint(ops.Sub(dq, mul(q, qdq)), r)
	dx := ops.AddV2(da, db)
	if !q.DType().IsComplex() {
		return dx
	}
	imaginary := ops.Imag(diagonalOf(ops.Sub(rdr, adjoint(qdq))))
	phase := diagonal(ops.Complex(ops.ZerosLike(imaginary), imaginary))
	return ops.AddV2(dx, timesInverseAdjoint(mul(q, adjoint(phase)), r))
}
