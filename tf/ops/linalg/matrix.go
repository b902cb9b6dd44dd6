package linalg

import (
	"math"
	"math/cmplx"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// A scalar is what matrices are computed in, whatever their tensors hold: the
// widest type of its kind, or float32 for what TensorFlow computes in it and
// takes as long as it has bytes.
type scalar interface{ float32 | float64 | complex128 }

// A realScalar is one without an imaginary part.
type realScalar interface{ float32 | float64 }

// A matrix has element (i, j) at data[i*stride+j].
type matrix[T scalar] struct {
	rows, cols, stride int
	data               []T
}

func newMatrix[T scalar](rows, cols int) matrix[T] {
	return matrix[T]{rows, cols, cols, core.Make[T](rows * cols)}
}

func identity[T scalar](rows, cols int) matrix[T] {
	m := newMatrix[T](rows, cols)
	m.setIdentity()
	return m
}

func (m matrix[T]) setIdentity() {
	for i := range m.rows {
		clear(m.row(i))
		if i < m.cols {
			m.row(i)[i] = 1
		}
	}
}

func (m matrix[T]) row(i int) []T { return m.data[i*m.stride:][:m.cols] }

func (m matrix[T]) at(i, j int) T { return m.data[i*m.stride+j] }

func (m matrix[T]) set(i, j int, v T) { m.data[i*m.stride+j] = v }

// whole reports whether rows follow each other without a gap.
func (m matrix[T]) whole() bool { return m.stride == m.cols }

// part returns the part of m that begins at (i, j), in the same memory.
func (m matrix[T]) part(i, j, rows, cols int) matrix[T] {
	if rows == 0 || cols == 0 {
		return matrix[T]{rows: rows, cols: cols, stride: cols}
	}
	return matrix[T]{rows, cols, m.stride, m.data[i*m.stride+j : (i+rows-1)*m.stride+j+cols]}
}

// column copies column j from row i down.
func (m matrix[T]) column(i, j int) []T {
	x := core.Make[T](m.rows - i)
	for k := range x {
		x[k] = m.at(i+k, j)
	}
	return x
}

func (m matrix[T]) setColumn(i, j int, x []T) {
	for k, v := range x {
		m.set(i+k, j, v)
	}
}

// copyFrom sets the elements that m and a both have.
func (m matrix[T]) copyFrom(a matrix[T]) {
	if m.whole() && a.whole() && m.cols == a.cols {
		copy(m.data, a.data)
		return
	}
	n := min(m.cols, a.cols)
	for i := range min(m.rows, a.rows) {
		copy(m.row(i)[:n], a.row(i))
	}
}

func (m matrix[T]) clone() matrix[T] {
	c := newMatrix[T](m.rows, m.cols)
	c.copyFrom(m)
	return c
}

// adjoint returns the conjugate transpose.
func (m matrix[T]) adjoint() matrix[T] {
	a := newMatrix[T](m.cols, m.rows)
	m.adjointTo(a)
	return a
}

func (m matrix[T]) adjointTo(a matrix[T]) {
	for j := range a.rows {
		x := a.row(j)
		for i, at := 0, j; i < len(x); i, at = i+1, at+m.stride {
			x[i] = m.data[at]
		}
		conjugate(x)
	}
}

func (m matrix[T]) swapRows(i, j int) {
	x, y := m.row(i), m.row(j)
	for k, v := range x {
		x[k], y[k] = y[k], v
	}
}

// clearBelow zeroes what lies below the diagonal.
func (m matrix[T]) clearBelow() {
	for i := range m.rows {
		clear(m.row(i)[:min(i, m.cols)])
	}
}

// clearAbove zeroes what lies above the diagonal.
func (m matrix[T]) clearAbove() {
	for i := range min(m.rows, m.cols) {
		clear(m.row(i)[i+1:])
	}
}

// scale multiplies all elements by f.
func (m matrix[T]) scale(f T) {
	for i := range m.rows {
		scaleVector(m.row(i), f)
	}
}

// add adds f·a.
func (m matrix[T]) add(f T, a matrix[T]) {
	for i := range m.rows {
		axpy(m.row(i), f, a.row(i))
	}
}

// addDiagonal adds v to the elements of the diagonal.
func (m matrix[T]) addDiagonal(v T) {
	for i := range min(m.rows, m.cols) {
		m.data[i*m.stride+i] += v
	}
}

// finite reports whether all elements are numbers.
func (m matrix[T]) finite() bool {
	for i := range m.rows {
		for _, v := range m.row(i) {
			if a := abs(v); math.IsNaN(a) || math.IsInf(a, 0) {
				return false
			}
		}
	}
	return true
}

func (m matrix[T]) fill(v T) {
	for i := range m.rows {
		kernel.Fill(m.row(i), v)
	}
}

// multiply sets c to a·b.
func multiply[T scalar](c, a, b matrix[T]) { multiplyInto(c, a, b, false, false) }

// multiplyAdd adds a·b to c.
func multiplyAdd[T scalar](c, a, b matrix[T]) { multiplyInto(c, a, b, false, true) }

// multiplyTransposed sets c to aᵀ·b or adds that.
func multiplyTransposed[T scalar](c, a, b matrix[T], add bool) { multiplyInto(c, a, b, true, add) }

func multiplyInto[T scalar](c, a, b matrix[T], transposed, add bool) {
	if c.rows == 0 || c.cols == 0 {
		return
	}
	if c.rows*c.cols*b.rows <= smallProduct {
		multiplySmall(c, a, b, transposed, add)
		return
	}
	g := gemm.Gemm{M: c.rows, N: c.cols, K: b.rows, TransA: transposed, LDA: a.stride, LDB: b.stride, LDC: c.stride, Accumulate: add}
	gemm.MatMul(kernel.Serial, g, c.data, a.data, b.data, gemm.Epilogue[T]{})
}

// multiplySubtract subtracts a·b from c. Meanwhile it changes the sign of the smaller factor,
// neither of which lies in c.
func multiplySubtract[T scalar](c, a, b matrix[T]) {
	if c.rows == 0 || c.cols == 0 {
		return
	}
	small := a
	if b.cols < a.rows {
		small = b
	}
	small.negate()
	multiplyAdd(c, a, b)
	small.negate()
}

func (m matrix[T]) negate() {
	if m.whole() {
		m.rows, m.cols = 1, len(m.data)
	}
	for i := range m.rows {
		x := m.row(i)
		if x, ok := any(x).([]float32); ok && len(x) >= 2*vectorLeast {
			elementwise.Neg(x, x)
			continue
		}
		for j, v := range x {
			x[j] = -v
		}
	}
}

// smallProduct is up to how many multiplications a product is not worth being
// cut into blocks.
const smallProduct = 1 << 10

func multiplySmall[T scalar](c, a, b matrix[T], transposed, add bool) {
	for i := range c.rows {
		to := c.row(i)
		if !add {
			clear(to)
		}
		if transposed {
			addRows(to, a.data[i:], a.stride, b)
		} else {
			addRows(to, a.row(i), 1, b)
		}
	}
}

// product returns a·b.
func product[T scalar](a, b matrix[T]) matrix[T] {
	c := newMatrix[T](a.rows, b.cols)
	multiply(c, a, b)
	return c
}

// norm1 returns the greatest sum of absolute values of a column.
func norm1[T scalar](m matrix[T]) float64 {
	sums := core.Make[float64](m.cols)
	for i := range m.rows {
		for j, v := range m.row(i) {
			sums[j] += abs(v)
		}
	}
	most := 0.0
	for _, s := range sums {
		most = max(most, s)
	}
	return most
}

// vectorLeast elements are worth a call of a vector loop.
const vectorLeast = 8

// axpy adds a·x to y.
func axpy[T scalar](y []T, a T, x []T) {
	x = x[:len(y)]
	if len(y) >= vectorLeast {
		switch y := any(y).(type) {
		case []float64:
			elementwise.AddScaled(y, re(a), any(x).([]float64))
			return
		case []float32:
			if len(y) >= 2*vectorLeast {
				descent.Axpy(y, float32(re(a)), any(x).([]float32))
				return
			}
		}
	}
	for i := range y {
		y[i] += a * x[i]
	}
}

// addRows adds the rows of a to y, each times an element of x, which are step apart.
func addRows[T scalar](y, x []T, step int, a matrix[T]) {
	if len(y) >= vectorLeast {
		gemm.AddRows(y, a.rows, x, step, a.data, a.stride)
		return
	}
	for i := range a.rows {
		axpy(y, x[i*step], a.row(i))
	}
}

// dot returns Σ conj(x)·y.
func dot[T scalar](x, y []T) (sum T) {
	z, ok := any(x).([]complex128)
	if !ok {
		return dotPlain(x, y)
	}
	p := any(&sum).(*complex128)
	for i, v := range any(y).([]complex128)[:len(z)] {
		*p += cmplx.Conj(z[i]) * v
	}
	return sum
}

// dotPlain returns Σ x·y.
func dotPlain[T scalar](x, y []T) T {
	if len(x) >= vectorLeast {
		if x, ok := any(x).([]float64); ok {
			return fromReal[T](elementwise.Dot(x, any(y).([]float64)))
		}
	}
	var a, b, c, d T
	for len(x) >= 4 && len(y) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += v * y[i]
	}
	return (a + b) + (c + d)
}

func scaleVector[T scalar](x []T, f T) {
	if x, ok := any(x).([]float32); ok && len(x) >= 2*vectorLeast {
		elementwise.MulScalar(x, x, float32(re(f)))
		return
	}
	for i := range x {
		x[i] *= f
	}
}

// norm returns the Euclidean length of x.
func norm[T scalar](x []T) float64 { return math.Sqrt(re(dot(x, x))) }

func conjugate[T scalar](x []T) {
	if z, ok := any(x).([]complex128); ok {
		for i, v := range z {
			z[i] = cmplx.Conj(v)
		}
	}
}

func conj[T scalar](x T) T {
	if z, ok := any(&x).(*complex128); ok {
		*z = cmplx.Conj(*z)
	}
	return x
}

// re returns the real part of x.
func re[T scalar](x T) float64 {
	switch p := any(&x).(type) {
	case *complex128:
		return real(*p)
	case *float64:
		return *p
	case *float32:
		return float64(*p)
	}
	return 0
}

// im returns the imaginary part of x.
func im[T scalar](x T) float64 {
	if z, ok := any(&x).(*complex128); ok {
		return imag(*z)
	}
	return 0
}

func abs[T scalar](x T) float64 {
	if z, ok := any(&x).(*complex128); ok {
		return cmplx.Abs(*z)
	}
	return math.Abs(re(x))
}

func isComplex[T scalar]() bool {
	_, ok := any((*T)(nil)).(*complex128)
	return ok
}

func fromReal[T scalar](v float64) (x T) {
	switch p := any(&x).(type) {
	case *complex128:
		*p = complex(v, 0)
	case *float64:
		*p = v
	case *float32:
		*p = float32(v)
	}
	return x
}
