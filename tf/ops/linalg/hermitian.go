package linalg

import (
	"math"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/gorge-tf/gorge/tf/core"
)

// solver64 has the iterations on real tridiagonal and bidiagonal matrices, and
// the eigenvectors of real matrices.
var solver64 gonum.Implementation

// hermitianEig returns the eigenvalues of a in ascending order. It sets v, if
// that has elements, to the eigenvectors, in columns. It reports false if it
// doesn't succeed. It overwrites a.
func hermitianEig[T scalar](a, v matrix[T]) ([]float64, bool) {
	n, power := a.rows, a.moderate()
	d, e, q := tridiagonalize(a)
	if len(v.data) == 0 {
		ok := n == 0 || solver64.Dsteqr(lapack.EVCompNone, n, d, e, nil, 1, nil)
		restore(d, power)
		return d, ok
	}
	z := identity[float64](n, n)
	if !tridiagonalEig(d, e, z) {
		return d, false
	}
	restore(d, power)
	v.setRealAdjoint(z)
	q.applyAll(v, 1)
	return d, true
}

// moderate divides m by a power of 2, which it returns, if squares of its elements may
// be too great or too small for numbers.
func (m matrix[T]) moderate() (power int) {
	most := m.greatest()
	if most == 0 || 0x1p-300 < most && most < 0x1p300 {
		return 0
	}
	_, power = math.Frexp(most)
	half := math.Ldexp(1, -power/2) // 2^-power itself may be too great
	m.scale(fromReal[T](half))
	m.scale(fromReal[T](math.Ldexp(1, -power+power/2)))
	return power
}

// greatest returns the greatest absolute value of a number in m.
func (m matrix[T]) greatest() (most float64) {
	for i := range m.rows {
		if reals, ok := any(m.row(i)).([]float64); ok {
			for _, v := range reals {
				most = max(most, math.Abs(v))
			}
			continue
		}
		for _, v := range m.row(i) {
			most = max(most, math.Abs(re(v)), math.Abs(im(v)))
		}
	}
	return most
}

// restore multiplies by the power of 2 that moderate has divided by.
func restore(x []float64, power int) {
	if power == 0 {
		return
	}
	for i, v := range x {
		x[i] = math.Ldexp(v, power)
	}
}

// setRealAdjoint sets the elements that m and the transpose of a both have.
func (m matrix[T]) setRealAdjoint(a matrix[float64]) {
	if m, ok := any(m).(matrix[float64]); ok {
		a.adjointTo(m.part(0, 0, a.cols, a.rows))
		return
	}
	for i := range a.rows {
		for j, x := range a.row(i) {
			m.set(j, i, fromReal[T](x))
		}
	}
}

// mirrorLower makes m Hermitian by its lower triangle.
func (m matrix[T]) mirrorLower() {
	for i := range m.rows {
		for j := range i {
			m.set(j, i, conj(m.at(i, j)))
		}
		m.set(i, i, fromReal[T](re(m.at(i, i))))
	}
}

// tridiagonalize returns the diagonals of a real tridiagonal matrix t, and the
// reflections whose product q gives a = q·t·qᴴ, for Hermitian a. It overwrites a.
func tridiagonalize[T scalar](a matrix[T]) (d, e []float64, q reflections[T]) {
	n := a.rows
	d, e, q = core.Make[float64](n), core.Make[float64](max(0, n-1)), newReflections[T](max(0, n-1), n)
	change := newRankTwo[T](n)
	for k := range n {
		d[k] = re(a.at(k, k))
		if k == n-1 {
			break
		}
		x := q.v.row(k)[k+1:]
		for i := range x {
			x[i] = a.at(k+1+i, k)
		}
		tau, beta := reflect(x)
		e[k], q.tau[k] = re(beta), tau
		reflectBoth(a.part(k+1, k+1, n-k-1, n-k-1), tau, x, change.first(n-k-1))
	}
	return d, e, q
}

// reflectBoth sets the Hermitian a to Hᴴ·a·H, where H = 1 - τ·v·vᴴ. The rows of
// change become conj(v) and what conj(a·v) adds.
func reflectBoth[T scalar](a matrix[T], tau T, v []T, change rankTwo[T]) {
	if tau == 0 {
		return
	}
	w, conjugated := change.rows.row(0), change.rows.row(1)
	clear(w)
	copy(conjugated, v)
	conjugate(conjugated)
	addRows(w, conjugated, 1, a)
	half := fromReal[T](-re(tau*conj(tau)) * re(dot(conjugated, w)) / 2)
	scaleVector(w, conj(tau))
	axpy(w, half, conjugated)
	change.addTo(a, func(i int) (x, y T) { return -v[i], -conj(w[i]) })
}

// hasNaN reports whether the lower triangle of a has an element that is none.
func hasNaN[T scalar](a matrix[T]) bool {
	for i := range a.rows {
		for _, v := range a.row(i)[:i+1] {
			if math.IsNaN(re(v)) || math.IsNaN(im(v)) {
				return true
			}
		}
	}
	return false
}
