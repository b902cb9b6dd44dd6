package linalg

// A rankTwo changes matrices by multiples of two rows.
type rankTwo[T scalar] struct {
	rows    matrix[T]
	factors matrix[T] // of some rows of a matrix
}

// rankTwoRows rows of a matrix are changed at a time, while they are in the cache.
const rankTwoRows = 32

func newRankTwo[T scalar](n int) rankTwo[T] {
	return rankTwo[T]{newMatrix[T](2, n), newMatrix[T](rankTwoRows, 2)}
}

// first is r with only the first n elements of its rows.
func (r rankTwo[T]) first(n int) rankTwo[T] {
	r.rows = r.rows.part(0, 0, 2, n)
	return r
}

// shortRow is how long rows are for whose change tiles of several rows repay: others are
// changed one after the other, as they follow each other in memory.
const shortRow = 128

// addTo adds x times the first row and y times the other to each row of a.
func (r rankTwo[T]) addTo(a matrix[T], factors func(row int) (x, y T)) {
	for lo := 0; lo < a.rows; lo += rankTwoRows {
		by := r.factors.part(0, 0, min(rankTwoRows, a.rows-lo), 2)
		for i := range by.rows {
			f := by.row(i)
			f[0], f[1] = factors(lo + i)
		}
		if a.cols <= shortRow {
			multiplyAdd(a.part(lo, 0, by.rows, a.cols), by, r.rows)
			continue
		}
		for i := range by.rows {
			addRows(a.row(lo+i), by.row(i), 1, r.rows)
		}
	}
}
