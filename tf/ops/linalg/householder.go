package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf/core"
)

// blockSize is how many reflections are applied at once, by products of
// matrices.
const blockSize = 32

// reflect finds the reflection H = 1 - τ·v·vᴴ whose adjoint turns x into
// (β, 0, ... 0) with β real. It overwrites x with v, whose first element is 1.
// The sign of β is such that nothing cancels out: that of -x[0].
func reflect[T scalar](x []T) (tau, beta T) {
	first, tail := x[0], norm(x[1:])
	if tail*tail <= math.SmallestNonzeroFloat64 && im(first)*im(first) <= math.SmallestNonzeroFloat64 {
		clear(x)
		x[0] = 1
		return 0, fromReal[T](re(first))
	}
	b := math.Hypot(abs(first), tail)
	if re(first) >= 0 {
		b = -b
	}
	beta = fromReal[T](b)
	scaleVector(x[1:], 1/(first-beta))
	x[0] = 1
	return (beta - first) / beta, beta
}

// reflectRows sets a to (1 - τ·v·vᴴ)·a.
func reflectRows[T scalar](a matrix[T], tau T, v []T) {
	if tau == 0 || a.cols == 0 {
		return
	}
	var few [blockSize]T // no memory for small matrices, of which there may be many
	w := few[:min(a.cols, len(few))]
	if a.cols > len(few) {
		w = core.Make[T](a.cols)
	}
	for i, x := range v {
		axpy(w, conj(x), a.row(i))
	}
	for i, x := range v {
		axpy(a.row(i), -tau*x, w)
	}
}

// reflectColumns sets a to a·(1 - τ·v·vᴴ).
func reflectColumns[T scalar](a matrix[T], tau T, v []T) {
	if tau == 0 {
		return
	}
	w := append([]T(nil), v...)
	conjugate(w)
	for i := range a.rows {
		sum := conj(dot(a.row(i), w)) // Σ a·v
		axpy(a.row(i), -tau*sum, w)
	}
}

// reflections are a product H₀·H₁·… of reflections, each of which begins at
// least one element later than that before it.
type reflections[T scalar] struct {
	v         matrix[T] // a vector in each row, with zeros before its first element
	tau       []T
	triangles []matrix[T] // of blocks that have been applied
}

func newReflections[T scalar](count, size int) reflections[T] {
	return reflections[T]{newMatrix[T](count, size), core.Make[T](count), make([]matrix[T], kernel.CeilDiv(count, blockSize))}
}

// set makes reflection k that of v, which begins at element from.
func (q reflections[T]) set(k, from int, tau T, v []T) {
	copy(q.v.row(k)[from:], v)
	q.tau[k] = tau
}

// triangle returns the upper triangle t for which the product of reflections
// [lo, hi), of which the first begins at element from, is 1 - vᵀ·t·conj(v).
func (q reflections[T]) triangle(lo, hi, from int) matrix[T] {
	kept := &q.triangles[lo/blockSize]
	n := hi - lo
	if kept.rows == n {
		return *kept
	}
	t := newMatrix[T](n, n)
	var products [blockSize]T
	for j := range n {
		w := products[:j]
		x := q.v.row(lo + j)[from+j:]
		for i := range w {
			w[i] = -q.tau[lo+j] * dot(q.v.row(lo + i)[from+j:], x)
		}
		for i := range w {
			var sum T
			for k, y := range t.row(i)[i:j] {
				sum += y * w[i+k]
			}
			t.set(i, j, sum)
		}
		t.set(j, j, q.tau[lo+j])
	}
	*kept = t
	return t
}

// apply sets a to the product of reflections [lo, hi), or to its adjoint,
// times a. What lies above row from is not touched by them. There are blockSize of
// them, or those that are left.
func (q reflections[T]) apply(a matrix[T], lo, hi, from int, adjoint bool) {
	if hi == lo || a.cols == 0 {
		return
	}
	if a.rows*a.cols <= smallProduct {
		q.applySingly(a, lo, hi, from, adjoint)
		return
	}
	t := q.triangle(lo, hi, from)
	if adjoint {
		t = t.adjoint()
	}
	v := q.v.part(lo, from, hi-lo, q.v.cols-from)
	a = a.part(from, 0, a.rows-from, a.cols)
	conjugated := v
	if isComplex[T]() {
		conjugated = v.clone()
		for i := range v.rows {
			conjugate(conjugated.row(i))
		}
	}
	w := product(t, product(conjugated, a))
	w.negate()
	multiplyTransposed(a, v, w, true)
}

// applySingly does the same, one reflection after the other.
func (q reflections[T]) applySingly(a matrix[T], lo, hi, from int, adjoint bool) {
	for i := range hi - lo {
		k := hi - 1 - i
		if adjoint {
			k = lo + i
		}
		tau, first := q.tau[k], from+k-lo
		if adjoint {
			tau = conj(tau)
		}
		reflectRows(a.part(first, 0, a.rows-first, a.cols), tau, q.v.row(k)[first:])
	}
}

// applyAll sets a to the whole product times a. Reflection k begins at row
// k+shift.
func (q reflections[T]) applyAll(a matrix[T], shift int) {
	for hi := len(q.tau); hi > 0; {
		lo := (hi - 1) / blockSize * blockSize
		q.apply(a, lo, hi, lo+shift, false)
		hi = lo
	}
}

// setProduct sets a to the whole product, or its first columns. Reflection k begins at row k.
func (q reflections[T]) setProduct(a matrix[T]) {
	a.setIdentity()
	for hi := len(q.tau); hi > 0; {
		lo := (hi - 1) / blockSize * blockSize
		q.apply(a.part(0, lo, a.rows, a.cols-lo), lo, hi, lo, false) // the columns before are still those of an identity
		hi = lo
	}
}

// triangularize turns a into an upper triangle r and returns the reflections
// whose product q gives q·r = a.
func triangularize[T scalar](a matrix[T]) reflections[T] {
	n := min(a.rows, a.cols)
	q := newReflections[T](n, a.rows)
	for lo := 0; lo < n; lo += blockSize {
		hi := min(lo+blockSize, n)
		q.triangularizePanel(a.part(lo, lo, a.rows-lo, hi-lo), lo)
		q.apply(a.part(0, hi, a.rows, a.cols-hi), lo, hi, lo, true)
	}
	return q
}

// triangularizePanel turns some columns, which begin at row lo, into an upper triangle. It works
// on rows of q.v: there columns lie in memory without gaps.
func (q reflections[T]) triangularizePanel(a matrix[T], lo int) {
	v := q.v.part(lo, lo, a.cols, a.rows)
	a.adjointTo(v)
	for k := range a.cols {
		conjugate(v.row(k))
	}
	for k := range a.cols {
		x := v.row(k)[k:]
		tau, beta := reflect(x)
		for j := k + 1; j < a.cols; j++ {
			y := v.row(j)[k:]
			axpy(y, -conj(tau)*dot(x, y), x)
			a.set(k, j, y[0])
			y[0] = 0
		}
		q.tau[lo+k] = tau
		a.set(k, k, beta)
	}
	a.clearBelow()
}
