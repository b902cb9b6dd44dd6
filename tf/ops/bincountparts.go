package ops

import (
	"math"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	valuesOfPart = 1 << 15 // the fewest that are worth bins of their own
	mostParts    = 64
)

// countParts returns in how many parts the values of a row are counted, an even number. It
// depends on nothing else than these numbers, so sums of weights have the same bits
// whatever the number of threads. It is 0 if adding up the bins of the parts would not pay.
func countParts(values, size int) int {
	if values > math.MaxInt32 {
		return 0 // counts of parts are int32
	}
	return min(mostParts, values/max(valuesOfPart, 4*size)) &^ 1
}

// countRows is addRows of some type of values; it is not ok if one is negative.
func countRows[T numeric.Real, I int32 | int64](c *core.OpContext, b *counter[T], values []I, width int) (ok bool) {
	n := (len(values) + width - 1) / width
	if parts := countParts(min(width, len(values)), b.size); parts > 0 {
		for row := range n {
			if r, v := b.row(row, width, len(values)); !countInParts(c, r, values[row*width:][:v], parts) {
				return false
			}
		}
		return true
	}
	return allCounted(c, n, max(1, valuesOfPart/width), func(row int) bool {
		r, v := b.row(row, width, len(values))
		return countRow(r, values[row*width:][:v])
	})
}

// allCounted reports whether f does what it does for 0 to n-1.
func allCounted(c *core.OpContext, n, grain int, f func(i int) bool) bool {
	var failed atomic.Bool
	c.ParallelFor(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if !f(i) {
				failed.Store(true)
			}
		}
	})
	return !failed.Load()
}

// row returns what counts in one row, and how many of the n values are in it.
func (b *counter[T]) row(row, width, n int) (counter[T], int) {
	r, end := *b, min(n, (row+1)*width)
	r.bins = b.bins[row*b.size : (row+1)*b.size]
	if len(b.weights) > 0 {
		r.weights = b.weights[row*width : end]
	}
	return r, end - row*width
}

// countRow counts the values of a row one after the other.
func countRow[T numeric.Real, I int32 | int64](b counter[T], values []I) (ok bool) {
	bins := b.bins
	for i, v := range values {
		switch at := uint64(v); {
		case v < 0:
			return false
		case at >= uint64(len(bins)):
		case b.binary:
			bins[at] = 1
		case len(b.weights) == 0:
			bins[at]++
		default:
			bins[at] += b.weights[i]
		}
	}
	return true
}

// countInParts is countRow in parts, each of which has bins of its own. Sums of weights are
// added up in the order of the parts.
func countInParts[T numeric.Real, I int32 | int64](c *core.OpContext, b counter[T], values []I, parts int) (ok bool) {
	if len(b.weights) > 0 && !b.binary {
		sums := core.Make[T](parts * b.size)
		ok := pairsOfParts(c, len(values), parts, func(k, lo, hi int) bool {
			t := sums[2*k*b.size:][:2*b.size]
			return addPair(t[:b.size], t[b.size:], values[lo:hi], b.weights[lo:hi])
		})
		addUp(b.bins, sums)
		return ok
	}
	counts, ok := countsInParts(c, values, b.size, parts)
	most := b.mostCounted()
	for i, v := range counts {
		b.bins[i] = T(min(v, most))
	}
	return ok
}

// countsInParts returns how often each value comes that has a bin.
func countsInParts[I int32 | int64](c *core.OpContext, values []I, size, parts int) (_ []int32, ok bool) {
	counts := core.Make[int32](parts * size)
	ok = pairsOfParts(c, len(values), parts, func(k, lo, hi int) bool {
		t := counts[2*k*size:][:2*size]
		return countPair(t[:size], t[size:], values[lo:hi])
	})
	addUp(counts[:size], counts[size:])
	return counts[:size], ok
}

// mostCounted is where counting one by one ends: float32 has no odd numbers from there on.
func (b *counter[T]) mostCounted() int32 {
	if b.binary {
		return 1
	}
	if _, ok := any(b.bins).([]float32); ok {
		return 1 << 24
	}
	return math.MaxInt32
}

// pairsOfParts calls f for every two neighbors among the parts of n values: k is the number
// of the pair.
func pairsOfParts(c *core.OpContext, n, parts int, f func(k, lo, hi int) bool) bool {
	pairs := parts / 2
	return allCounted(c, pairs, 1, func(k int) bool { return f(k, k*n/pairs, (k+1)*n/pairs) })
}

// addUp adds tables of the size of bins to them.
func addUp[T numeric.Real](bins, tables []T) {
	for ; len(bins) > 0 && len(tables) > 0; tables = tables[len(bins):] {
		for i, v := range tables[:len(bins)] {
			bins[i] += v
		}
	}
}

// countPair counts the first half of the values in a and the second in b, by turns: a
// processor waits for one bin while it counts in another, and if most values are equal it
// does not wait for the same one each time.
func countPair[I int32 | int64](a, b []int32, values []I) bool {
	half := len(values) / 2
	second := values[half : 2*half]
	for i, v := range values[:half] {
		if at := uint64(v); at < uint64(len(a)) {
			a[at]++
		} else if v < 0 {
			return false
		}
		v = second[i]
		if at := uint64(v); at < uint64(len(b)) {
			b[at]++
		} else if v < 0 {
			return false
		}
	}
	return countRow(counter[int32]{bins: b}, values[2*half:])
}

// addPair is countPair that adds weights.
func addPair[T numeric.Real, I int32 | int64](a, b []T, values []I, weights []T) bool {
	half := len(values) / 2
	second, w, x := values[half:2*half], weights[:half], weights[half:2*half]
	for i, v := range values[:half] {
		if at := uint64(v); at < uint64(len(a)) {
			a[at] += w[i]
		} else if v < 0 {
			return false
		}
		v = second[i]
		if at := uint64(v); at < uint64(len(b)) {
			b[at] += x[i]
		} else if v < 0 {
			return false
		}
	}
	return countRow(counter[T]{bins: b, weights: weights[2*half:]}, values[2*half:])
}
