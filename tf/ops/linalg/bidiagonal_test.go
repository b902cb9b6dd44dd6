package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestBidiagonalSVD compares singular values with those of LAPACK's method, the least of them
// too; the rows of u and v are orthonormal and give them.
func TestBidiagonalSVD(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 8, 9, 33, 100} {
		for _, grade := range []float64{1, 0.5, 2, 1e-3, 1e3, 0} {
			for _, scale := range []float64{1, 1e-290, 1e290} {
				d, e := graded(n, grade, scale)
				main, off := append([]float64{}, d...), append([]float64{}, e...)
				want, rest := append([]float64{}, d...), append([]float64{}, e...)
				if n > 0 {
					solver64.Dbdsqr(blas.Upper, n, 0, 0, 0, want, rest, nil, 1, nil, 1, nil, 1, make([]float64, 4*n))
				}
				u, v := identity[float64](n, n), identity[float64](n, n)
				if !bidiagonalSVD(d, e, u, v) {
					t.Fatalf("n = %d, grade %v: no convergence", n, grade)
				}
				checkBidiagonal(t, main, off, d, want, u, v)
			}
		}
	}
}

// graded returns diagonals whose elements grow or shrink; with grade 0 they are equal, and some 0.
func graded(n int, grade, scale float64) (d, e []float64) {
	d, e = kerneltest.Random[float64](n, 5), kerneltest.Random[float64](max(0, n-1), 6)
	if n > 4 {
		e[n/2] = 0
	}
	if grade == 0 {
		for i := range d {
			d[i] = float64(i % 3)
		}
	}
	for i := range d {
		by := scale * min(1e15, max(1e-15, math.Pow(grade, float64(i)))) / 1e15
		if grade == 0 {
			by = scale
		}
		d[i] *= by
		if i < len(e) {
			e[i] *= by
		}
	}
	return d, e
}

func checkBidiagonal(t *testing.T, main, off, d, want []float64, u, v matrix[float64]) {
	t.Helper()
	for k, s := range d {
		x, y := v.row(k), u.row(k)
		if !(math.Abs(s-want[k]) <= 1e-12*want[k]+0x1p-1000) || math.Abs(dot(x, x)-1) > 1e-13 || math.Abs(dot(y, y)-1) > 1e-13 ||
			k > 0 && (d[k-1] < s || math.Abs(dot(x, v.row(k-1))) > 1e-13 || math.Abs(dot(y, u.row(k-1))) > 1e-13) {
			t.Fatalf("singular value %d of %d is %v, want %v", k, len(d), s, want[k])
		}
		for i := range y { // b·x = s·y
			sum := main[i]*x[i] - s*y[i]
			if i < len(off) {
				sum += off[i] * x[i+1]
			}
			if !(math.Abs(sum) <= 1e-13*d[0]+0x1p-1000) {
				t.Fatalf("row %d of %d is off by %v at %d", k, len(d), sum, i)
			}
		}
	}
}
