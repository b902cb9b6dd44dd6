package linalg

import (
	"math"
	"math/cmplx"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "MatrixSquareRoot", In: "input: T", Out: "output: T", Attrs: "T: {" + matrixTypes + "}",
		Shape: squareShape, Expensive: true, Grad: tf.GradFunc(squareRootGrad),
		Kernels: core.ByType("T", solved(&functionProblem, always(realSquareRoot), always(squareRoot))),
	})
	core.Register(core.OpDef{
		Name: "MatrixLogarithm", In: "input: T", Out: "output: T", Attrs: "T: {complex64, complex128}",
		Shape: squareShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Complex64: kernelOf(&functionProblem, always(logarithm)), tf.Complex128: kernelOf(&functionProblem, always(logarithm)),
		}),
	})
	core.Register(core.OpDef{
		Name: "MatrixExponential", In: "input: T", Out: "output: T", Attrs: "T: {" + matrixTypes + "}",
		Shape: squareShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", solved(&functionProblem, always(exponential[float64]), always(exponential[complex128]))),
	})
}

// MatrixSquareRoot returns the principal square roots of square matrices, NaN
// where a real matrix has no real one. The method takes the root of the Schur
// form (Björck and Hammarling, 1983). x has shape [... N N], which the result
// keeps, and floating-point or complex numbers (float32, float64, complex64,
// complex128). The result is also NaN for a matrix with an element that is
// NaN or infinite. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func MatrixSquareRoot(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSquareRoot", opts, x)
}

// MatrixLogarithm returns the principal logarithms of complex square
// matrices, NaN for those that have no inverse. The method is inverse scaling
// and squaring (Kenney and Laub, 1989). x has shape [... N N], which the
// result keeps, and type complex64 or complex128. The result is also NaN for
// a matrix with an element that is NaN or infinite. Other shapes are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step.
func MatrixLogarithm(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixLogarithm", opts, x)
}

var functionProblem = problem{matrices: 1, check: square, results: same, cost: cubic(30)}

// ofTriangle sets y to q·f(t)·qᴴ, where q·t·qᴴ = x with an upper triangle t.
// It overwrites x. Where there is no value of f, it gives NaN.
func ofTriangle(x, y matrix[complex128], f func(t matrix[complex128]) bool) {
	if x.finite() {
		if s, ok := newSchur(x); ok && f(s.t) {
			multiply(y, product(s.q, s.t), s.q.adjoint())
			return
		}
	}
	y.fill(cmplx.NaN())
}

func squareRoot(in, out []matrix[complex128]) error {
	ofTriangle(in[0], out[0], func(t matrix[complex128]) bool {
		rootTriangle(t)
		return true
	})
	return nil
}

// realSquareRoot refuses roots that are not real up to rounding.
func realSquareRoot(in, out []matrix[float64]) error {
	n := in[0].rows
	x, y := newMatrix[complex128](n, n), newMatrix[complex128](n, n)
	x.setRealAdjoint(in[0].adjoint())
	if err := squareRoot([]matrix[complex128]{x}, []matrix[complex128]{y}); err != nil {
		return err
	}
	bound := 1e-6 * norm1(y)
	for i, v := range y.data {
		out[0].data[i] = real(v)
		if !(math.Abs(imag(v)) <= bound) {
			out[0].fill(math.NaN())
			break
		}
	}
	return nil
}

// rootTriangle turns the upper triangle t into its square root, diagonal by
// diagonal.
func rootTriangle(t matrix[complex128]) {
	n := t.rows
	for i := range n {
		t.set(i, i, cmplx.Sqrt(t.at(i, i)))
	}
	for d := 1; d < n; d++ {
		for i := range n - d {
			j := i + d
			sum := t.at(i, j)
			for k := i + 1; k < j; k++ {
				sum -= t.at(i, k) * t.at(k, j)
			}
			if sum != 0 {
				sum /= t.at(i, i) + t.at(j, j)
			}
			t.set(i, j, sum)
		}
	}
}

func logarithm(in, out []matrix[complex128]) error {
	ofTriangle(in[0], out[0], logTriangle)
	return nil
}

// logTriangle turns t into its logarithm: that of a root of t near 1, by
// quadrature of ∫ x·(1 + s·x)⁻¹ ds from 0 to 1, as many times as roots were
// taken.
func logTriangle(t matrix[complex128]) bool {
	diagonal := core.Make[complex128](t.rows)
	for i := range diagonal {
		v := t.at(i, i)
		if v == 0 {
			return false
		}
		diagonal[i] = cmplx.Log(v)
	}
	const near, mostRoots = 0.2, 100
	scale := complex(1, 0)
	x := t.clone()
	x.addDiagonal(-1)
	for roots := 0; norm1(x) > near && roots < mostRoots; roots++ {
		rootTriangle(t)
		scale *= 2
		x.copyFrom(t)
		x.addDiagonal(-1)
	}
	t.fill(0)
	for i, node := range legendreNodes {
		for _, s := range []float64{(1 - node) / 2, (1 + node) / 2} {
			divisor, part := x.clone(), x.clone()
			divisor.scale(complex(s, 0))
			divisor.addDiagonal(1)
			solveTriangle(divisor, part, false, false)
			t.add(complex(legendreWeights[i]/2, 0)*scale, part)
		}
	}
	for i, v := range diagonal {
		t.set(i, i, v)
	}
	return true
}

// Nodes and weights of Gauss' quadrature with eight points on [-1, 1], of
// which half are given.
var (
	legendreNodes   = [...]float64{0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959, 0.96028985649753623168}
	legendreWeights = [...]float64{0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054, 0.10122853629037625915}
)

// exponential uses a Padé approximant of a matrix near 0, squared as often as
// that one was halved.
func exponential[T scalar](in, out []matrix[T]) error {
	x, n := in[0], in[0].rows
	if !x.finite() {
		out[0].fill(fromReal[T](math.NaN()))
		return nil
	}
	halvings := 0
	for size := min(norm1(x), math.MaxFloat64); size > 1; size /= 2 { // the sum of numbers may be infinite
		halvings++
	}
	x.scale(fromReal[T](math.Ldexp(1, -halvings)))
	const degree = 8
	power, over, under := identity[T](n, n), identity[T](n, n), identity[T](n, n)
	c := 1.0
	for k := 1; k <= degree; k++ {
		c *= float64(degree-k+1) / float64(k*(2*degree-k+1))
		power = product(power, x)
		over.add(fromReal[T](c), power)
		under.add(fromReal[T](c*float64(1-2*(k%2))), power)
	}
	factorLU(under).solve(out[0], over)
	for range halvings {
		out[0].copyFrom(product(out[0], out[0]))
	}
	return nil
}

// squareRootGrad solves Sylvester's equation yᵀ·dx + dx·yᵀ = dy, written as one
// system by Kronecker's product.
func squareRootGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	y := op.Output(0)
	shape := ops.Shape(y)
	order := ops.StridedSlice(shape, vector(y, -1), vector(y, 0), vector(y, 1), ops.StridedSliceOpts{EndMask: 1})
	batch, one := withoutLast(shape, 2), vector(y, 1)
	eye := identityLike(y)
	square := ops.Mul(order, order)
	kronecker := func(a, b tf.Output) tf.Output {
		a = ops.Reshape(a, concat(batch, order, one, order, one))
		b = ops.Reshape(b, concat(batch, one, order, one, order))
		return ops.Reshape(ops.Mul(a, b), concat(batch, square, square))
	}
	sum := ops.AddV2(kronecker(eye, transpose(y)), kronecker(y, eye))
	rhs := ops.Reshape(transpose(dy[0]), concat(batch, square, one))
	return tf.Grads(transpose(ops.Reshape(MatrixSolve(sum, rhs), shape)))
}
