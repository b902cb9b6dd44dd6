package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// tridiagonal chooses between elimination with pivots and without.
func tridiagonal[T scalar](n *core.Node) solver[T, T] {
	pivots, perturb := n.Bool("partial_pivoting"), n.Bool("perturb_singular")
	limits := limitsOf(n.Type("T"))
	return func(in, out []matrix[T]) error {
		s := &tridiagonalSystem[T]{above: in[0].row(0), main: in[0].row(1), below: in[0].row(2), x: out[0]}
		s.x.copyFrom(in[1])
		solvable := true
		switch n := len(s.main); {
		case n == 0:
		case perturb:
			s.eliminate(true)
			s.substitutePerturbed(limits)
		case n == 1 || !pivots:
			solvable = s.solveThomas()
		default:
			solvable = s.eliminate(false) && s.substitute()
		}
		if !solvable {
			s.x.fill(fromReal[T](math.NaN()))
		}
		return nil
	}
}

// A tridiagonalSystem is solved in place of its right-hand sides, x. The
// diagonals are overwritten with those of the upper triangle: main, above and
// the one above that.
type tridiagonalSystem[T scalar] struct {
	above, main, below []T
	second             []T
	x                  matrix[T]
}

// solveThomas solves without exchanging rows.
func (s *tridiagonalSystem[T]) solveThomas() bool {
	n := len(s.main)
	for i := range n {
		if i > 0 {
			s.main[i] -= s.below[i] * s.above[i-1]
			axpy(s.x.row(i), -s.below[i], s.x.row(i-1))
		}
		if s.main[i] == 0 {
			return false
		}
		s.above[i] /= s.main[i]
		divide(s.x.row(i), s.main[i])
	}
	for i := n - 2; i >= 0; i-- {
		axpy(s.x.row(i), -s.above[i], s.x.row(i+1))
	}
	return true
}

// eliminate makes the matrix an upper triangle. Of two rows the one with the
// greater element is kept, compared to the rest of its row if scaled is set.
func (s *tridiagonalSystem[T]) eliminate(scaled bool) bool {
	n := len(s.main)
	s.second = core.Make[T](n)
	size := s.rowSize(0)
	for i := range n - 1 {
		next := s.rowSize(i+1) + abs(s.below[i+1])
		here, there := abs(s.main[i]), abs(s.below[i+1])
		if scaled {
			here, there = ratio(here, size), ratio(there, next)
		}
		switch {
		case s.below[i+1] == 0 && (scaled || s.main[i] != 0):
			size = next
		case here < there:
			s.exchange(i)
		case s.main[i] == 0:
			return false
		default:
			size = next
			f := s.below[i+1] / s.main[i]
			s.main[i+1] -= f * s.above[i]
			axpy(s.x.row(i+1), -f, s.x.row(i))
		}
	}
	return true
}

// rowSize adds up row i from its diagonal on.
func (s *tridiagonalSystem[T]) rowSize(i int) float64 {
	size := abs(s.main[i])
	if i < len(s.main)-1 {
		size += abs(s.above[i])
	}
	return size
}

func ratio(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

// exchange eliminates row i by means of row i+1, which takes its place.
func (s *tridiagonalSystem[T]) exchange(i int) {
	f := s.main[i] / s.below[i+1]
	s.main[i], s.above[i], s.main[i+1] = s.below[i+1], s.main[i+1], s.above[i]-f*s.main[i+1]
	if i+2 < len(s.main) {
		s.second[i], s.above[i+1] = s.above[i+1], -f*s.above[i+1]
	}
	x, y := s.x.row(i), s.x.row(i+1)
	for k := range x {
		x[k], y[k] = y[k], x[k]-f*y[k]
	}
}

// reduce subtracts from row i of x what the rows below it contribute.
func (s *tridiagonalSystem[T]) reduce(i int) []T {
	row, n := s.x.row(i), len(s.main)
	if i+1 < n {
		axpy(row, -s.above[i], s.x.row(i+1))
	}
	if i+2 < n {
		axpy(row, -s.second[i], s.x.row(i+2))
	}
	return row
}

func (s *tridiagonalSystem[T]) substitute() bool {
	n := len(s.main)
	if s.main[n-1] == 0 {
		return false
	}
	for i := n - 1; i >= 0; i-- {
		divide(s.reduce(i), s.main[i])
	}
	return true
}

// substitutePerturbed moves pivots that are too small, by what rounding may
// have moved them.
func (s *tridiagonalSystem[T]) substitutePerturbed(l limits) {
	most := 0.0
	for i := range s.main {
		most = max(most, abs(s.main[i]))
		if i < len(s.main)-1 {
			most = max(most, abs(s.above[i]), abs(s.second[i]))
		}
	}
	for i := len(s.main) - 1; i >= 0; i-- {
		row := s.reduce(i)
		divide(row, perturbed(s.main[i], row, l.epsilon*most, l))
	}
}

// limits are the properties of the type that tensors have.
type limits struct{ epsilon, least float64 }

func limitsOf(d tf.DType) limits {
	if d == tf.Float32 || d == tf.Complex64 {
		return limits{0x1p-23, 0x1p-126}
	}
	return limits{0x1p-52, 0x1p-1022}
}

// perturbed returns a pivot that the elements of row can be divided by. A tiny
// one is scaled up together with row if that is enough.
func perturbed[T scalar](pivot T, row []T, by float64, l limits) T {
	by = math.Copysign(max(by, l.least), re(pivot))
	most := 0.0
	for _, v := range row {
		most = max(most, abs(v))
	}
	for size := abs(pivot); size < 1; size = abs(pivot) {
		switch {
		case size >= l.least && most*l.least <= size:
			return pivot
		case size < l.least && size != 0 && most*l.least <= size:
			scaleVector(row, fromReal[T](1/l.least))
			return pivot * fromReal[T](1/l.least)
		}
		pivot += fromReal[T](by)
		by *= 2
	}
	return pivot
}
