package linalg

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestExtremeMatrices: eigenvalues and singular values of elements whose squares are no
// numbers any more, or zeros, are those of moderate ones, scaled.
func TestExtremeMatrices(t *testing.T) {
	testExtremeMatrices[float64](t)
	testExtremeMatrices[complex128](t)
}

func testExtremeMatrices[T scalar](t *testing.T) {
	for _, n := range []int{1, 3, 20} {
		a := random[T](n, n)
		a.mirrorLower()
		want, _ := hermitianEig(a.clone(), matrix[T]{})
		singular := core.Make[T](n)
		singularValues(a.clone(), singular, matrix[T]{}, matrix[T]{})
		for _, power := range []int{-1000, -600, 600, 1015} {
			b, v, s := a.clone(), newMatrix[T](n, n), core.Make[T](n)
			b.scale(fromReal[T](math.Ldexp(1, power)))
			d, ok := hermitianEig(b.clone(), v)
			if !ok || !singularValues(b.clone(), s, matrix[T]{}, matrix[T]{}) {
				t.Fatalf("elements of 2^%d: no values", power)
			}
			for i := range d {
				if got := math.Ldexp(d[i], -power); math.Abs(got-want[i]) > 1e-12 {
					t.Errorf("elements of 2^%d: eigenvalue %v, want %v", power, got, want[i])
				}
				if got := math.Ldexp(re(s[i]), -power); math.Abs(got-re(singular[i])) > 1e-12 {
					t.Errorf("elements of 2^%d: singular value %v, want %v", power, got, re(singular[i]))
				}
			}
			wantNear(t, "vᴴ·v", naiveProduct(v.adjoint(), v), identity[T](n, n))
		}
	}
}
