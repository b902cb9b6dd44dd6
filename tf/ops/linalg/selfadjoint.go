package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const compute = "compute_v: bool = true; T: "
	core.Register(core.OpDef{
		Name: "SelfAdjointEigV2", In: "input: T", Out: "e: T; v: T", Attrs: compute + "{" + matrixTypes + "}",
		Shape: eigShape, Expensive: true, Grad: tf.GradFunc(selfAdjointGrad),
		Kernels: core.ByType("T", solved(&eigProblem, selfAdjoint[float64], selfAdjoint[complex128])),
	})
	core.Register(core.OpDef{
		Name: "BatchSelfAdjointEigV2", In: "input: T", Out: "e: T; v: T", Attrs: compute + "{double, float}",
		Shape: eigShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", solved(&eigProblem, selfAdjoint[float64], nil)),
	})
	for name, types := range map[string]string{"SelfAdjointEig": "double, float, half", "BatchSelfAdjointEig": "double, float"} {
		core.Register(core.OpDef{
			Name: name, In: "input: T", Out: "output: T", Attrs: "T: {" + types + "}",
			Shape: stackedEigShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", solved(&stackedEigProblem, always(stackedEig), nil)),
		})
	}
}

// VectorsOpts is the optional attribute of SelfAdjointEigV2 and Eig: to compute
// the eigenvalues only.
type VectorsOpts struct{ ValuesOnly bool }

// Apply sets the attribute.
func (o VectorsOpts) Apply(s *tf.Spec) { s.Set("compute_v", !o.ValuesOnly) }

// SelfAdjointEigV2 returns the eigenvalues [N] of Hermitian matrices [N N],
// of which only the lower triangle is looked at, in ascending order, and the
// eigenvectors, in the columns of matrices; v is empty by VectorsOpts. x has
// floating-point or complex numbers (float32, float64, complex64, complex128)
// and may have dimensions before N, which e and v keep with the type. A
// matrix with NaN in its lower triangle, or an iteration that does not
// converge, fails with INVALID_ARGUMENT in the step; with an infinite element
// e is NaN and v the identity. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func SelfAdjointEigV2(x tf.Output, opts ...tf.Option) (e, v tf.Output) {
	op := tf.Apply(nil, "SelfAdjointEigV2", []tf.Output{x}, opts...)
	return op.Output(0), op.Output(1)
}

// eigShape serves all ops that return eigenvalues and eigenvectors.
func eigShape(c *core.Infer) error {
	batch, n, known, err := squareInput(c)
	if err != nil {
		return err
	}
	if known {
		c.Set(0, append(batch, n))
	}
	switch {
	case !c.Bool("compute_v"):
		c.Set(1, tf.Shape{0})
	case known:
		c.Set(1, append(batch, n, n))
	}
	return nil
}

func stackedEigShape(c *core.Infer) error {
	batch, n, known, err := squareInput(c)
	if err != nil || !known {
		return err
	}
	rows := -1
	if n >= 0 {
		rows = n + 1
	}
	c.Set(0, append(batch, rows, n))
	return nil
}

var (
	eigProblem = problem{
		matrices: 1, check: square, cost: cubic(20),
		results: func(n *core.Node, s []tf.Shape) []tf.Shape {
			values := s[0][:1]
			if n.Bool("compute_v") {
				return []tf.Shape{values, s[0]}
			}
			return []tf.Shape{values}
		},
	}
	stackedEigProblem = problem{
		matrices: 1, check: square, cost: cubic(20),
		results: func(_ *core.Node, s []tf.Shape) []tf.Shape { return []tf.Shape{{s[0][0] + 1, s[0][1]}} },
	}
)

// selfAdjoint fails where there are no eigenvalues, unless the node has the attribute
// _nan: XLA does not fail, and the others of a batch have some.
func selfAdjoint[T scalar](n *core.Node) solver[T, T] {
	vectors, lenient := n.Bool("compute_v"), n.Bool("_nan")
	return func(in, out []matrix[T]) error {
		var v matrix[T]
		if vectors {
			v = out[1]
		}
		err := solveHermitian(in[0], out[0].data, v)
		if err == nil || !lenient {
			return err
		}
		nan := fromReal[T](math.NaN())
		kernel.Fill(out[0].data, nan)
		v.fill(nan)
		return nil
	}
}

// solveHermitian sets e and v to the eigenvalues and eigenvectors of a.
func solveHermitian[T scalar](a matrix[T], e []T, v matrix[T]) error {
	if a.rows == 1 {
		e[0] = fromReal[T](re(a.at(0, 0)))
		v.setIdentity()
		return nil
	}
	failed := invalid("Self-adjoint eigen decomposition was not successful. The input might not be valid.")
	if hasNaN(a) {
		return failed
	}
	a.mirrorLower()
	if !a.finite() {
		if !infinitePasses(a) {
			return failed
		}
		v.setIdentity()
		for i := range e {
			e[i] = fromReal[T](math.NaN())
		}
		return nil
	}
	d, ok := hermitianEig(a, v)
	if !ok {
		return failed
	}
	for i, x := range d {
		e[i] = fromReal[T](x)
	}
	return nil
}

// infinitePasses reports whether infinite elements of the symmetric a make the
// eigenvalues NaN rather than fail: in TensorFlow those that elimination does not
// carry to others, the first on the diagonal, or both of two.
func infinitePasses[T scalar](a matrix[T]) bool {
	for i := range a.rows {
		for j, v := range a.row(i)[:i+1] {
			if math.IsInf(abs(v), 0) && (i != j || i > 0 && a.rows > 2) {
				return false
			}
		}
	}
	return true
}

func stackedEig(in, out []matrix[float64]) error {
	n := in[0].rows
	return solveHermitian(in[0], out[0].data[:n], out[0].part(1, 0, n, n))
}

// differences returns the matrix of 1/(x[j] - x[i]) for vectors x, with zeros
// on its diagonal.
func differences(x tf.Output) tf.Output {
	d := ops.Sub(ops.ExpandDims(x, number(x, -2)), ops.ExpandDims(x, number(x, -1)))
	return withDiagonal(safeReciprocal(d), ops.ZerosLike(x))
}

// safeReciprocal is 1/x, and 0 where x is.
func safeReciprocal(x tf.Output) tf.Output {
	return ops.Mul(x, ops.Reciprocal(ops.AddV2(ops.Mul(x, x), constLike(x, 1e-20))))
}

func selfAdjointGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	e, v := op.Output(0), op.Output(1)
	middle := diagonal(orZeros(op, dy, 0))
	if op.Bool("compute_v") {
		middle = ops.AddV2(middle, ops.Mul(differences(e), mulAdjointX(v, orZeros(op, dy, 1))))
	} else {
		_, v = SelfAdjointEigV2(op.Input(0))
	}
	dx := mul(v, mulAdjointY(middle, v))
	return tf.Grads(halfDiagonal(band(ops.AddV2(dx, adjoint(dx)), -1, 0)))
}
