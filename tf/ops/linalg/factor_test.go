package linalg

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// The sizes of matrices that take several blocks, and of others.
var sizesTested = [][2]int{{1, 1}, {3, 2}, {2, 3}, {33, 33}, {70, 45}, {45, 70}}

// random returns a matrix of normal random numbers.
func random[T scalar](rows, cols int) matrix[T] {
	rnd := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	m := newMatrix[T](rows, cols)
	for i := range m.data {
		switch p := any(&m.data[i]).(type) {
		case *float32:
			*p = float32(rnd.NormFloat64())
		case *float64:
			*p = rnd.NormFloat64()
		case *complex128:
			*p = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
	}
	return m
}

// naiveProduct is product as it is defined.
func naiveProduct[T scalar](a, b matrix[T]) matrix[T] {
	c := newMatrix[T](a.rows, b.cols)
	for i := range a.rows {
		for j := range b.cols {
			var sum T
			for k := range a.cols {
				sum += a.at(i, k) * b.at(k, j)
			}
			c.set(i, j, sum)
		}
	}
	return c
}

// wantNear fails unless got is want, up to rounding.
func wantNear[T scalar](t *testing.T, what string, got, want matrix[T]) {
	t.Helper()
	least := 1e-11
	if _, ok := any(got).(matrix[float32]); ok {
		least = 1e-3
	}
	for i := range want.rows {
		for j, w := range want.row(i) {
			if d := abs(got.at(i, j) - w); !(d <= least*max(1, abs(w))) {
				t.Fatalf("%s: element (%d, %d) is %v, want %v", what, i, j, got.at(i, j), w)
			}
		}
	}
}

func TestTriangularize(t *testing.T) {
	for _, s := range sizesTested {
		testTriangularize[float64](t, s[0], s[1])
		testTriangularize[complex128](t, s[0], s[1])
	}
}

func testTriangularize[T scalar](t *testing.T, m, n int) {
	a := random[T](m, n)
	r := a.clone()
	reflections := triangularize(r)
	q := identity[T](m, m)
	reflections.applyAll(q, 0)
	narrow := random[T](m, min(m, n))
	reflections.setProduct(narrow)
	wantNear(t, "first columns", narrow, q.part(0, 0, m, min(m, n)))
	wantNear(t, "qᴴ·q", naiveProduct(q.adjoint(), q), identity[T](m, m))
	wantNear(t, "q·r", naiveProduct(q, r), a)
	for i := range m {
		for j := range min(i, n) {
			if r.at(i, j) != 0 {
				t.Fatalf("r is not 0 at (%d, %d)", i, j)
			}
		}
	}
}

func TestSolveTriangle(t *testing.T) {
	for _, n := range []int{1, 5, 32, 75} {
		for _, lower := range []bool{false, true} {
			testSolveTriangle[float32](t, n, lower)
			testSolveTriangle[float64](t, n, lower)
			testSolveTriangle[complex128](t, n, lower)
		}
	}
}

func testSolveTriangle[T scalar](t *testing.T, n int, lower bool) {
	a, x := random[T](n, n), random[T](n, 3)
	a.scale(fromReal[T](1 / float64(n)))
	a.addDiagonal(2)
	if lower {
		a.clearAbove()
	} else {
		a.clearBelow()
	}
	b := naiveProduct(a, x)
	solveTriangle(a, b, lower, false)
	wantNear(t, "solution", b, x)
}

func TestFactorLU(t *testing.T) {
	for _, n := range []int{1, 4, 32, 70} {
		testFactorLU[float32](t, n)
		testFactorLU[float64](t, n)
		testFactorLU[complex128](t, n)
	}
}

func testFactorLU[T scalar](t *testing.T, n int) {
	a := random[T](n, n)
	f := factorLU(a.clone())
	l, u := f.lu.clone(), f.lu.clone()
	l.clearAbove()
	u.clearBelow()
	swapped := newMatrix[T](n, n)
	for i, r := range f.rows {
		l.set(i, i, 1)
		copy(swapped.row(i), a.row(r))
		for j := range i {
			if abs(l.at(i, j)) > 1 {
				t.Fatalf("l is %v at (%d, %d): a greater pivot was there", l.at(i, j), i, j)
			}
		}
	}
	wantNear(t, "l·u", naiveProduct(l, u), swapped)
	x, b := newMatrix[T](n, 2), random[T](n, 2)
	f.solve(x, b)
	wantNear(t, "a·x", naiveProduct(a, x), b)
}

// TestFactorLUOfZeros: a column without a pivot changes nothing, wherever in a leaf it is.
func TestFactorLUOfZeros(t *testing.T) { kerneltest.EachLevel(t, testFactorLUOfZeros) }

func testFactorLUOfZeros(t *testing.T) {
	for zero := range 20 {
		a := random[float64](20, 20)
		for i := range a.rows {
			a.set(i, zero, 0)
			a.set(i, 13, a.at(i, 0))
		}
		f := factorLU(a.clone())
		l, u, swapped := f.lu.clone(), f.lu.clone(), newMatrix[float64](20, 20)
		l.clearAbove()
		u.clearBelow()
		for i, r := range f.rows {
			l.set(i, i, 1)
			copy(swapped.row(i), a.row(r))
		}
		wantNear(t, "l·u", naiveProduct(l, u), swapped)
	}
}

func TestFactorCholesky(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 4, 24, 32, 47, 100, 160, 170} {
			testFactorCholesky[float32](t, n)
			testFactorCholesky[float64](t, n)
			testFactorCholesky[complex128](t, n)
		}
	})
}

func testFactorCholesky[T scalar](t *testing.T, n int) {
	x := random[T](n, n)
	a := naiveProduct(x, x.adjoint())
	l := a.clone()
	for i := range n {
		for j := i + 1; j < n; j++ {
			l.set(i, j, 1e9) // not looked at
		}
	}
	if !factorCholesky(l) {
		t.Fatal("not positive definite")
	}
	l.clearAbove()
	wantNear(t, "l·lᴴ", naiveProduct(l, l.adjoint()), a)
}

// TestCholeskyRefuses: a matrix that is not positive definite is found out wherever that
// shows, as it is by blocks.
func TestCholeskyRefuses(t *testing.T) {
	for _, n := range []int{5, 40, 96, 101} {
		for _, at := range []int{0, n / 2, n - 1} {
			a := identity[float32](n, n)
			a.set(at, at, 0)
			if factorCholesky(a) {
				t.Errorf("%d rows, 0 at %d: positive definite", n, at)
			}
		}
	}
}

func TestSingularValues(t *testing.T) {
	for _, s := range sizesTested {
		testSingularValues[float64](t, s[0], s[1])
		testSingularValues[complex128](t, s[0], s[1])
	}
}

func testSingularValues[T scalar](t *testing.T, m, n int) {
	a, p := random[T](m, n), min(m, n)
	out := []matrix[T]{newMatrix[T](1, p), newMatrix[T](m, m), newMatrix[T](n, n)}
	if err := svd([]matrix[T]{a.clone()}, out); err != nil {
		t.Fatal(err)
	}
	s, u, v := out[0].data, out[1], out[2]
	middle := newMatrix[T](m, n)
	for i, x := range s {
		middle.set(i, i, x)
		if re(x) < 0 || i > 0 && re(x) > re(s[i-1]) {
			t.Fatalf("singular values %v", s)
		}
	}
	wantNear(t, "uᴴ·u", naiveProduct(u.adjoint(), u), identity[T](m, m))
	wantNear(t, "vᴴ·v", naiveProduct(v.adjoint(), v), identity[T](n, n))
	wantNear(t, "u·s·vᴴ", naiveProduct(naiveProduct(u, middle), v.adjoint()), a)
}

func TestHermitianEig(t *testing.T) {
	for _, n := range []int{1, 2, 5, 40} {
		testHermitianEig[float64](t, n)
		testHermitianEig[complex128](t, n)
	}
}

func testHermitianEig[T scalar](t *testing.T, n int) {
	a, v := random[T](n, n), newMatrix[T](n, n)
	a.mirrorLower()
	d, ok := hermitianEig(a.clone(), v)
	if !ok {
		t.Fatal("no eigenvalues")
	}
	scaled := v.clone()
	for i := range n {
		for j, x := range d {
			scaled.data[i*n+j] *= fromReal[T](x)
		}
	}
	wantNear(t, "vᴴ·v", naiveProduct(v.adjoint(), v), identity[T](n, n))
	wantNear(t, "a·v", naiveProduct(a, v), scaled)
}

func TestSchur(t *testing.T) {
	for _, n := range []int{1, 2, 3, 20, 45} {
		a := random[complex128](n, n)
		s, ok := newSchur(a.clone())
		if !ok {
			t.Fatal("no convergence")
		}
		wantNear(t, "qᴴ·q", naiveProduct(s.q.adjoint(), s.q), identity[complex128](n, n))
		upper := s.t.clone()
		upper.clearBelow()
		wantNear(t, "t", s.t, upper)
		wantNear(t, "q·t·qᴴ", naiveProduct(naiveProduct(s.q, s.t), s.q.adjoint()), a)
		testVectors(t, s)
	}
}

func testVectors(t *testing.T, s *schur) {
	v := s.vectors()
	normalize(v)
	scaled := v.clone()
	for i := range v.rows {
		for j := range v.cols {
			scaled.data[i*v.cols+j] *= s.t.at(j, j)
		}
	}
	wantNear(t, "t·v", naiveProduct(s.t, v), scaled)
}

func TestExponential(t *testing.T) {
	a, root, log, back := random[complex128](6, 6), newMatrix[complex128](6, 6), newMatrix[complex128](6, 6), newMatrix[complex128](6, 6)
	a.addDiagonal(5)
	for _, err := range []error{
		squareRoot([]matrix[complex128]{a.clone()}, []matrix[complex128]{root}),
		logarithm([]matrix[complex128]{a.clone()}, []matrix[complex128]{log}),
		exponential([]matrix[complex128]{log}, []matrix[complex128]{back}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantNear(t, "√a²", naiveProduct(root, root), a)
	wantNear(t, "e^log a", back, a)
}

// TestLeastOfAny: of what solves aᴴ·a·x = aᴴ·b for a matrix of a lower rank
// than its sizes, the result is in the space of the rows.
func TestLeastOfAny(t *testing.T) {
	for _, s := range [][3]int{{6, 4, 4}, {4, 6, 4}, {7, 5, 3}, {5, 40, 2}} {
		testLeastOfAny[float64](t, s[0], s[1], s[2])
		testLeastOfAny[complex128](t, s[0], s[1], s[2])
	}
}

func testLeastOfAny[T scalar](t *testing.T, m, n, rank int) {
	left, right := random[T](m, rank), random[T](rank, n)
	a, b, x := naiveProduct(left, right), random[T](m, 2), newMatrix[T](n, 2)
	leastOfAny(a.clone(), b.clone(), x, epsilon)
	normal := naiveProduct(a.adjoint(), naiveProduct(a, x))
	wantNear(t, "aᴴ·a·x", normal, naiveProduct(a.adjoint(), b))
	back := newMatrix[T](rank, 2) // x = rightᴴ·z for some z
	f := factorLU(naiveProduct(right, right.adjoint()))
	f.solve(back, naiveProduct(right, x))
	wantNear(t, "in the space of the rows", naiveProduct(right.adjoint(), back), x)
}
