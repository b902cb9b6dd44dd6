package linalg

import (
	"math"
	"math/cmplx"
)

// A schur is a = q·t·qᴴ with q unitary and t an upper triangle.
type schur struct{ q, t matrix[complex128] }

// sweepsPerValue is how often an eigenvalue may be tried for.
const sweepsPerValue = 30

// newSchur factors a, which it overwrites. It reports false if the iteration
// doesn't converge.
func newSchur(a matrix[complex128]) (*schur, bool) {
	s := &schur{hessenberg(a), a}
	sweeps := 0
	for high := a.rows - 1; high > 0; {
		low := s.activeFrom(high)
		if low == high {
			high--
			sweeps = 0
			continue
		}
		if sweeps++; sweeps > sweepsPerValue*a.rows {
			return nil, false
		}
		s.sweep(low, high, s.shift(high, sweeps))
	}
	return s, true
}

// hessenberg turns a into q·a·qᴴ that is zero below its first subdiagonal and
// returns qᴴ.
func hessenberg(a matrix[complex128]) matrix[complex128] {
	n := a.rows
	q := newReflections[complex128](max(0, n-2), n)
	for k := range n - 2 {
		x := a.column(k+1, k)
		tau, beta := reflect(x)
		q.set(k, k+1, tau, x)
		a.set(k+1, k, beta)
		for i := k + 2; i < n; i++ {
			a.set(i, k, 0)
		}
		reflectRows(a.part(k+1, k+1, n-k-1, n-k-1), cmplx.Conj(tau), x)
		reflectColumns(a.part(0, k+1, n, n-k-1), tau, x)
	}
	out := identity[complex128](n, n)
	q.applyAll(out, 1)
	return out
}

// activeFrom returns the first row of the block that ends in row high and that
// no zero on the subdiagonal divides.
func (s *schur) activeFrom(high int) int {
	for i := high; i > 0; i-- {
		around := abs(s.t.at(i, i)) + abs(s.t.at(i-1, i-1))
		if abs(s.t.at(i, i-1)) <= epsilon*around || around == 0 && s.t.at(i, i-1) == 0 {
			s.t.set(i, i-1, 0)
			return i
		}
	}
	return 0
}

// epsilon is the distance between 1 and the next number.
const epsilon = 0x1p-52

// shift is the eigenvalue of the last two rows that is nearer to the last
// element; now and then another, so that no cycle lasts.
func (s *schur) shift(high, sweeps int) complex128 {
	if sweeps%10 == 0 {
		size := abs(s.t.at(high, high-1))
		if high > 1 {
			size += abs(s.t.at(high-1, high-2))
		}
		return complex(size, 0)
	}
	a, b := s.t.at(high-1, high-1), s.t.at(high-1, high)
	c, d := s.t.at(high, high-1), s.t.at(high, high)
	half := (a - d) / 2
	root := cmplx.Sqrt(half*half + b*c)
	if re(half)*re(root)+im(half)*im(root) < 0 {
		root = -root
	}
	if half+root == 0 {
		return d
	}
	return d - b*c/(half+root)
}

// sweep is one step of the QR algorithm on rows [low, high].
func (s *schur) sweep(low, high int, shift complex128) {
	x, y := s.t.at(low, low)-shift, s.t.at(low+1, low)
	for k := low; k < high; k++ {
		c, sine := rotation(x, y)
		from := max(low, k-1)
		rotateRows(s.t.row(k)[from:], s.t.row(k + 1)[from:], c, sine)
		if k > low {
			s.t.set(k+1, k-1, 0)
		}
		for i := range min(k+2, high) + 1 {
			rotatePair(s.t.row(i)[k:k+2], c, sine)
		}
		for i := range s.q.rows {
			rotatePair(s.q.row(i)[k:k+2], c, sine)
		}
		if k+2 <= high {
			x, y = s.t.at(k+1, k), s.t.at(k+2, k)
		}
	}
}

// rotation returns c and s for which [c s; -s̄ c] turns (a, b) into (r, 0).
func rotation(a, b complex128) (c float64, s complex128) {
	size := math.Hypot(abs(a), abs(b))
	switch {
	case size == 0:
		return 1, 0
	case a == 0:
		return 0, cmplx.Conj(b) / complex(abs(b), 0)
	}
	phase := a / complex(abs(a), 0)
	return abs(a) / size, phase * cmplx.Conj(b) / complex(size, 0)
}

func rotateRows(x, y []complex128, c float64, s complex128) {
	cc, back := complex(c, 0), -cmplx.Conj(s)
	for i := range x {
		x[i], y[i] = cc*x[i]+s*y[i], back*x[i]+cc*y[i]
	}
}

// rotatePair multiplies two columns by the adjoint of a rotation.
func rotatePair(p []complex128, c float64, s complex128) {
	cc := complex(c, 0)
	p[0], p[1] = cc*p[0]+cmplx.Conj(s)*p[1], -s*p[0]+cc*p[1]
}

// vectors returns the eigenvectors of t, in the columns of an upper triangle.
func (s *schur) vectors() matrix[complex128] {
	n := s.t.rows
	x := newMatrix[complex128](n, n)
	least := max(epsilon*norm1(s.t), math.SmallestNonzeroFloat64)
	for k := range n {
		x.set(k, k, 1)
		for i := k - 1; i >= 0; i-- {
			var sum complex128
			for j := i + 1; j <= k; j++ {
				sum += s.t.at(i, j) * x.at(j, k)
			}
			gap := s.t.at(i, i) - s.t.at(k, k)
			if abs(gap) < least {
				gap = complex(least, 0)
			}
			x.set(i, k, -sum/gap)
		}
	}
	return x
}
