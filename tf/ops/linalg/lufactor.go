package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// A luFactor is p·a = l·u: the unit lower and the upper triangle in one
// matrix, and the rows of a in the order in which they were chosen.
type luFactor[T scalar] struct {
	lu   matrix[T]
	rows []int
	odd  bool // an odd number of rows has been swapped
}

// factorLU factors a in place, with partial pivoting.
func factorLU[T scalar](a matrix[T]) *luFactor[T] {
	f := &luFactor[T]{lu: a, rows: core.Make[int](a.rows)}
	for i := range f.rows {
		f.rows[i] = i
	}
	f.factor(0, a.rows)
	for i := range a.rows {
		f.negate(i, 0, i)
	}
	return f
}

// negate changes the sign of elements of a row.
func (f *luFactor[T]) negate(row, lo, hi int) {
	x := f.lu.row(row)[lo:hi]
	for j, v := range x {
		x[j] = -v
	}
}

// factor factors columns [lo, hi) from row lo down: first one half of them, then,
// changed by that, the other. The lower triangle has the other sign so far, so that
// products are added.
func (f *luFactor[T]) factor(lo, hi int) {
	a, n := f.lu, f.lu.rows
	if hi-lo <= leafSize {
		if a, ok := any(a).(matrix[float64]); ok && hi-lo == gemm.EliminateWidth && gemm.HasEliminate() {
			f.factorVectors(a, lo)
			return
		}
		f.factorLeaf(lo, hi)
		return
	}
	middle := lo + halfOf(hi-lo)
	f.factor(lo, middle)
	upper := a.part(lo, middle, middle-lo, hi-middle)
	triangle[T]{a.part(lo, lo, middle-lo, middle-lo), true, true, true}.solve(upper)
	multiplyAdd(a.part(middle, middle, n-middle, hi-middle), a.part(middle, lo, n-middle, middle-lo), upper)
	f.factor(middle, hi)
}

// pivot moves the row with the greatest element in column k, of those not yet
// chosen, to row k.
func (f *luFactor[T]) pivot(k int) { f.choose(k, f.greatest(k)) }

// choose moves row best to row k.
func (f *luFactor[T]) choose(k, best int) {
	if best == k {
		return
	}
	f.lu.swapRows(k, best)
	f.rows[k], f.rows[best] = f.rows[best], f.rows[k]
	f.odd = !f.odd
}

// greatest returns the row of that element.
func (f *luFactor[T]) greatest(k int) int {
	switch a := any(f.lu).(type) {
	case matrix[float32]:
		return greatestReal(a, k)
	case matrix[float64]:
		return greatestReal(a, k)
	}
	best, most := k, abs(f.lu.at(k, k))
	for i := k + 1; i < f.lu.rows; i++ {
		if v := abs(f.lu.at(i, k)); v > most {
			best, most = i, v
		}
	}
	return best
}

func greatestReal[T realScalar](a matrix[T], k int) int {
	best, most := k, max(a.at(k, k), -a.at(k, k))
	for i, at := k, k*a.stride+k; i < a.rows; i, at = i+1, at+a.stride {
		if v := a.data[at]; v > most || -v > most {
			best, most = i, max(v, -v)
		}
	}
	return best
}

// factorLeaf factors a few columns, one after the other: each is first changed by those before it,
// whose elements in a row lie beside each other. A column is divided by its pivot on the way
// through the next one: rows are far apart in memory.
func (f *luFactor[T]) factorLeaf(lo, hi int) {
	if lo == hi {
		return
	}
	divisor := fromReal[T](1)
	for k := lo; k < hi; k++ {
		f.update(k, lo, k, divisor)
		f.pivot(k)
		pivot := f.lu.at(k, k)
		if pivot == 0 { // changes nothing
			f.negateColumn(k)
			for c := k + 1; c < hi; c++ {
				f.update(c, lo, k, 1)
			}
			f.factorLeaf(k+1, hi)
			return
		}
		divisor = -naiveDivisor(pivot)
	}
	for at := hi*f.lu.stride + hi - 1; at < len(f.lu.data); at += f.lu.stride {
		f.lu.data[at] /= divisor
	}
}

// factorVectors is factorLeaf for columns that fill a vector: each changes those after it
// in every row at once, and meanwhile the next pivot is found. a is f.lu.
func (f *luFactor[T]) factorVectors(a matrix[float64], lo int) {
	best := f.greatest(lo)
	for k := lo; k < lo+gemm.EliminateWidth; k++ {
		f.choose(k, best)
		row := (*[gemm.EliminateWidth]float64)(a.data[k*a.stride+lo:])
		pivot := row[k-lo]
		switch next := k + 1; {
		case pivot == 0:
			f.negateColumn(k)
			if next < lo+gemm.EliminateWidth {
				best = f.greatest(next)
			}
		case next < a.rows:
			best = next + gemm.Eliminate(a.data[next*a.stride+lo:], a.rows-next, a.stride, row, k-lo, -pivot)
		}
	}
}

// negateColumn changes the sign of what is below the diagonal in column k.
func (f *luFactor[T]) negateColumn(k int) {
	for i := k + 1; i < f.lu.rows; i++ {
		f.negate(i, k, k+1)
	}
}

// update changes column k as the columns [lo, hi) tell, which are factored once the last of them
// is divided.
func (f *luFactor[T]) update(k, lo, hi int, divisor T) {
	var upper [leafSize]T
	for i := lo; i < hi; i++ {
		f.updateRow(i, k, lo, upper[:i-lo])
		upper[i-lo] = f.lu.at(i, k)
	}
	for i := hi; i < f.lu.rows; i++ {
		if divisor != 1 && hi > lo {
			f.lu.data[i*f.lu.stride+hi-1] /= divisor
		}
		f.updateRow(i, k, lo, upper[:hi-lo])
	}
}

// updateRow adds to element k of a row what those from lo on take of the upper ones.
func (f *luFactor[T]) updateRow(i, k, lo int, upper []T) {
	row := f.lu.data[i*f.lu.stride+lo:][:k-lo+1]
	rest := row[k-lo]
	for j, v := range upper {
		rest += v * row[j]
	}
	row[k-lo] = rest
}

// naiveDivisor returns what dividing by x as Eigen does amounts to: it multiplies by
// the conjugate and divides by the square, which gives NaN for a complex number that
// is not finite.
func naiveDivisor[T scalar](x T) T {
	if _, ok := any(x).(complex128); ok && math.IsInf(abs(x), 0) {
		return fromReal[T](math.NaN())
	}
	return x
}

// singular reports whether the least of the pivots is not above 0. Like
// TensorFlow, it takes a pivot that is NaN for the least only where it is the first,
// and subnormal ones for 0: their inverse may be infinite.
func (f *luFactor[T]) singular() bool {
	if f.lu.rows == 0 {
		return false
	}
	least := abs(f.lu.at(0, 0))
	for i := 1; i < f.lu.rows; i++ {
		if v := abs(f.lu.at(i, i)); v < least {
			least = v
		}
	}
	normal := 0x1p-1022
	if _, ok := any(f.lu).(matrix[float32]); ok {
		normal = 0x1p-126
	}
	return !(least >= normal)
}

// solve sets x to the solution of a·x = b.
func (f *luFactor[T]) solve(x, b matrix[T]) {
	for i, r := range f.rows {
		copy(x.row(i), b.row(r))
	}
	solveTriangle(f.lu, x, true, true)
	solveTriangle(f.lu, x, false, false)
}

// logDeterminant returns the sign of the determinant, a number of absolute
// value 1 or 0, and the logarithm of its absolute value.
func (f *luFactor[T]) logDeterminant() (sign T, log float64) {
	sign = 1
	if f.odd {
		sign = -1
	}
	for i := range f.lu.rows {
		v := f.lu.at(i, i)
		if v == 0 {
			return sign * 0, math.Inf(-1)
		}
		log += elementwise.LogOf(abs(v))
		sign *= unit(v)
	}
	return sign, log
}

// unit returns v divided by its absolute value, which may be infinite.
func unit[T scalar](v T) T {
	if math.IsInf(re(v), 0) && im(v) == 0 {
		return fromReal[T](math.Copysign(1, re(v)))
	}
	return v / fromReal[T](abs(v))
}
