package linalg

import (
	"math/cmplx"

	"gonum.org/v1/gonum/lapack"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	by := map[tf.DType]core.NewKernel{tf.Float32: kernelOf(&generalEig, always(eigReal)), tf.Complex64: kernelOf(&generalEig, always(eigComplex))}
	by[tf.Float64], by[tf.Complex128] = by[tf.Float32], by[tf.Complex64]
	core.Register(core.OpDef{
		Name: "Eig", In: "input: T", Out: "e: Tout; v: Tout",
		Attrs: "compute_v: bool = true; T: {float, double, complex64, complex128}; Tout: {complex64, complex128}",
		Shape: eigShape, Expensive: true, Grad: tf.GradFunc(eigGrad), Kernels: core.ByType("T", by),
	})
}

// Eig returns the eigenvalues [N] of square matrices, in no order, and
// eigenvectors of length 1, in the columns of matrices; v is empty by
// VectorsOpts. Both are complex, of twice the size of real elements of x. x
// has shape [... N N] and floating-point or complex numbers (float32,
// float64, complex64, complex128). A real matrix with an element that is NaN
// or infinite, or an iteration that does not converge, fails with
// INVALID_ARGUMENT in the step; a complex matrix with such an element gives
// NaN. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func Eig(x tf.Output, opts ...tf.Option) (e, v tf.Output) {
	op := tf.Apply(nil, "Eig", []tf.Output{x}, tf.Join(opts, tf.Attr("Tout", complexOf(x.DType())))...)
	return op.Output(0), op.Output(1)
}

// complexOf returns the complex type as exact as d.
func complexOf(d tf.DType) tf.DType {
	if b := d.Base(); b == tf.Float64 || b == tf.Complex128 {
		return tf.Complex128
	}
	return tf.Complex64
}

var generalEig = problem{matrices: 1, check: squareAsExact, cost: eigProblem.cost, results: eigProblem.results}

// squareAsExact refuses results that are more or less exact than the matrix,
// too, which the signature allows.
func squareAsExact(c *core.OpContext, s []tf.Shape) error {
	if err := square(c, s); err != nil {
		return err
	}
	if got, want := c.Node.OutTypes[0], complexOf(c.Input(0).DType()); got != want {
		return invalid("Invalid output dtype %d vs %d", got, want)
	}
	return nil
}

var errEig = invalid("Eigen decomposition was not successful. The input might not be valid.")

// eigReal leaves real matrices to LAPACK's algorithm: eigenvalues that are
// conjugate are exactly so.
func eigReal(in []matrix[float64], out []matrix[complex128]) error {
	a, n := in[0], in[0].rows
	if !a.finite() {
		return errEig
	}
	if n == 0 {
		return nil
	}
	re, im := core.Make[float64](n), core.Make[float64](n)
	job, v := lapack.RightEVNone, newMatrix[float64](1, 1)
	if len(out) > 1 {
		job, v = lapack.RightEVCompute, newMatrix[float64](n, n)
	}
	var size [1]float64
	solver64.Dgeev(lapack.LeftEVNone, job, n, a.data, n, re, im, nil, 1, v.data, max(1, v.cols), size[:], -1)
	work := core.Make[float64](int(size[0]))
	if solver64.Dgeev(lapack.LeftEVNone, job, n, a.data, n, re, im, nil, 1, v.data, max(1, v.cols), work, len(work)) != 0 {
		return errEig
	}
	for i := range n {
		out[0].data[i] = complex(re[i], im[i])
	}
	if len(out) > 1 {
		pairUp(out[1], v, im)
	}
	return nil
}

// pairUp sets v to the complex eigenvectors that are stored as real and
// imaginary parts, in neighbouring columns, for each pair of eigenvalues.
func pairUp(v matrix[complex128], parts matrix[float64], im []float64) {
	for i := range v.rows {
		x, p := v.row(i), parts.row(i)
		for j := range x {
			switch {
			case im[j] > 0:
				x[j] = complex(p[j], p[j+1])
			case im[j] < 0:
				x[j] = cmplx.Conj(x[j-1])
			default:
				x[j] = complex(p[j], 0)
			}
		}
	}
}

// eigComplex fails for no elements, other than eigReal: those that are not
// numbers have no numbers as eigenvalues.
func eigComplex(in, out []matrix[complex128]) error {
	if !in[0].finite() {
		for _, m := range out {
			m.fill(cmplx.NaN())
		}
		return nil
	}
	s, ok := newSchur(in[0])
	if !ok {
		return errEig
	}
	for i := range s.t.rows {
		out[0].data[i] = s.t.at(i, i)
	}
	if len(out) > 1 {
		multiply(out[1], s.q, s.vectors())
		normalize(out[1])
	}
	return nil
}

// normalize makes the columns of v as long as 1.
func normalize(v matrix[complex128]) {
	for j := range v.cols {
		x := v.column(0, j)
		scaleVector(x, complex(1/norm(x), 0))
		v.setColumn(0, j, x)
	}
}

func eigGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	e, v := op.Output(0), op.Output(1)
	middle := diagonal(orZeros(op, dy, 0))
	if op.Bool("compute_v") {
		vdv := mulAdjointX(v, orZeros(op, dy, 1))
		re := ops.Real(diagonalOf(vdv), partOf(vdv))
		kept := diagonal(ops.Complex(re, ops.ZerosLike(re), wholeOf(vdv)))
		middle = ops.AddV2(middle, ops.Mul(ops.Conj(differences(e)), ops.Sub(vdv, mul(mulAdjointX(v, v), kept))))
	} else {
		_, v = Eig(op.Input(0))
	}
	vt := adjoint(v)
	dx := MatrixSolve(vt, mul(middle, vt))
	return tf.Grads(ops.Cast(dx, op.Input(0).DType().Base()))
}

// partOf is the option for ops that return a part of complex numbers like x.
func partOf(x tf.Output) tf.Option {
	if x.DType().Base() == tf.Complex128 {
		return ops.PartOpts{Tout: tf.Float64}
	}
	return ops.PartOpts{Tout: tf.Float32}
}

// wholeOf is the option for ops that return complex numbers like x.
func wholeOf(x tf.Output) tf.Option { return tf.Attr("Tout", x.DType().Base()) }
