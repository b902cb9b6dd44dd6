package linalg

import "math"

// tridiagonalEig turns the diagonals d and e of a symmetric matrix into its eigenvalues d, in
// ascending order, and applies to the rows of z, which begin as those of an identity, what makes
// them its eigenvectors. It is Eigen's iteration. Rows and not columns are rotated: they lie in
// memory without gaps. It reports false if it does not converge.
func tridiagonalEig(d, e []float64, z matrix[float64]) bool {
	const steps = 30 // on average for each eigenvalue, as in Eigen
	left, t := steps*len(d), newTurns(z)
	for end := len(d) - 1; end > 0; {
		for i := range end {
			if negligible(e[i], d[i], d[i+1]) {
				e[i] = 0
			}
		}
		for end > 0 && e[end-1] == 0 {
			end--
		}
		start := end
		for start > 0 && e[start-1] != 0 {
			start--
		}
		if end == 0 {
			break
		}
		if left--; left < 0 {
			return false
		}
		tridiagonalStep(d[:end+1], e[:end], &t, start, shiftOf(d[end-1], d[end], e[end-1]))
	}
	t.flush()
	sortRows(d, z)
	return true
}

// negligible reports whether an element beside the diagonal is as good as 0 between a and b.
func negligible(e, a, b float64) bool {
	const eps, least = 0x1p-53, 0x1p-1022
	return e*e <= eps*eps*math.Abs(a)*math.Abs(b)+least
}

// shiftOf is Wilkinson's: the eigenvalue of the last two rows that is closer to b.
func shiftOf(a, b, e float64) float64 {
	half := (a - b) / 2
	if half == 0 {
		return b - math.Abs(e)
	}
	return b - e/((half+math.Copysign(math.Hypot(half, e), half))/e)
}

// tridiagonalStep is a step of the QR iteration from row start to the end of d.
func tridiagonalStep(d, e []float64, z *turns, start int, shift float64) {
	x, y := d[start]-shift, e[start]
	for k := start; k < len(e) && y != 0; k++ {
		c, s, _ := givens(x, y)
		s = -s
		a, b := s*d[k]+c*e[k], s*e[k]+c*d[k+1]
		d[k] = c*(c*d[k]-s*e[k]) - s*(c*e[k]-s*d[k+1])
		d[k+1] = s*a + c*b
		e[k] = c*a - s*b
		if k > start {
			e[k-1] = c*e[k-1] - s*y
		}
		if x = e[k]; k+1 < len(e) {
			y, e[k+1] = -s*e[k+1], c*e[k+1]
		}
		z.add(k, k+1, c, -s)
	}
}

// sortRows sorts d and, with it, the rows of z.
func sortRows(d []float64, z matrix[float64]) {
	for i := range d {
		least := i
		for j := i + 1; j < len(d); j++ {
			if d[j] < d[least] {
				least = j
			}
		}
		if least == i {
			continue
		}
		d[i], d[least] = d[least], d[i]
		z.swapRows(i, least)
	}
}
