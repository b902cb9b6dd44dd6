package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/lapack"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestTridiagonalEig compares eigenvalues with those of LAPACK's method; the rows of z are
// orthonormal and give them.
func TestTridiagonalEig(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 8, 9, 33, 100} {
		for _, scale := range []float64{0, 1, 1e-90, 1e90} {
			d, e := kerneltest.Random[float64](n, 5), kerneltest.Random[float64](max(0, n-1), 6)
			scaleVector(d, scale)
			scaleVector(e, scale)
			if n > 4 {
				e[n/2], d[1], d[2] = 0, 0, 0
			}
			main, off := append([]float64{}, d...), append([]float64{}, e...)
			want, rest := append([]float64{}, d...), append([]float64{}, e...)
			solver64.Dsteqr(lapack.EVCompNone, n, want, rest, nil, 1, nil)
			z := identity[float64](n, n)
			if !tridiagonalEig(d, e, z) {
				t.Fatalf("n = %d: no convergence", n)
			}
			checkEig(t, scale*1e-13, d, want, z, main, off)
		}
	}
}

func checkEig(t *testing.T, most float64, d, want []float64, z matrix[float64], main, off []float64) {
	t.Helper()
	for k, v := range d {
		x := z.row(k)
		if math.Abs(v-want[k]) > most || math.Abs(dot(x, x)-1) > 1e-13 || k > 0 && math.Abs(dot(x, z.row(k-1))) > 1e-13 {
			t.Fatalf("eigenvalue %d of %d is %v, want %v", k, len(d), v, want[k])
		}
		for i, y := range x {
			sum := (main[i] - v) * y
			if i > 0 {
				sum += off[i-1] * x[i-1]
			}
			if i < len(off) {
				sum += off[i] * x[i+1]
			}
			if math.Abs(sum) > most {
				t.Fatalf("row %d of %d is off by %v at %d", k, len(d), sum, i)
			}
		}
	}
}
