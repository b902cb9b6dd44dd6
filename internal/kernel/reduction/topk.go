package reduction

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TopK sets values and indices to the k greatest of each row of n elements and
// where they are, in descending order; of equal ones the first comes first.
func TopK[T numeric.Real](par kernel.Par, values []T, indices []int64, x []T, n, k int) {
	if k == 0 || n == 0 {
		return
	}
	par(len(x)/n, max(1, kernel.ElementGrain/n), func(lo, hi int) {
		h := topHeap[T]{at: memory.Make[int64](k)[:0]}
		var sorted sorter
		for r := lo; r < hi; r++ {
			h.row, h.at = x[r*n:(r+1)*n], h.at[:0]
			if k >= leastSorted && n <= mostPassed*k {
				h.at = sorted.descending(h.at[:k], descendingKeys(sorted.room(n), h.row))
			} else {
				h.fill(k)
				slices.SortFunc(h.at, h.order)
			}
			for i, at := range h.at {
				values[r*k+i], indices[r*k+i] = h.row[at], at
			}
		}
	})
}

// topHeap holds where the best elements of a row are, the worst of them first.
type topHeap[T numeric.Real] struct {
	row []T
	at  []int64
}

// before reports whether element i comes before element j.
func (h *topHeap[T]) before(i, j int64) bool {
	a, b := h.row[i], h.row[j]
	return a > b || a == b && i < j
}

// order is before as a comparison.
func (h *topHeap[T]) order(i, j int64) int {
	if h.before(i, j) {
		return -1
	}
	return 1
}

// fill finds the k best.
func (h *topHeap[T]) fill(k int) {
	for i := range h.row {
		if i := int64(i); len(h.at) < k {
			h.at = append(h.at, i)
			h.up(len(h.at) - 1)
		} else if h.before(i, h.at[0]) {
			h.at[0] = i
			h.down()
		}
	}
}

// up moves element i to where it belongs after it has been added.
func (h *topHeap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(h.at[parent], h.at[i]) {
			return
		}
		h.at[i], h.at[parent] = h.at[parent], h.at[i]
		i = parent
	}
}

// down moves the first element to where it belongs after it has been replaced.
func (h *topHeap[T]) down() {
	for i := 0; ; {
		worst := 2*i + 1
		if worst >= len(h.at) {
			return
		}
		if r := worst + 1; r < len(h.at) && h.before(h.at[worst], h.at[r]) {
			worst = r
		}
		if !h.before(h.at[i], h.at[worst]) {
			return
		}
		h.at[i], h.at[worst] = h.at[worst], h.at[i]
		i = worst
	}
}
