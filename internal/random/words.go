package random

import "math"

// Words hands out the words of a generator one at a time. It serves the ops
// that do not know beforehand how many they need.
type Words struct {
	p    Philox
	next [3]uint32 // the rest of the block, from the end
	left int
}

// NewWords returns the words of p.
func NewWords(p Philox) *Words { return &Words{p: p} }

// Next returns the next word.
func (w *Words) Next() uint32 {
	if w.left == 0 {
		var first uint32
		first, w.next[2], w.next[1], w.next[0] = w.p.Next()
		w.left = len(w.next)
		return first
	}
	w.left--
	return w.next[w.left]
}

// Next64 returns two words as 64 bits, the first of them the low half.
func (w *Words) Next64() uint64 {
	low := w.Next()
	return join(low, w.Next())
}

// Float64 returns a number in [0, 1), of two words.
func (w *Words) Float64() float64 {
	first := w.Next()
	return float64From(first, w.Next())
}

// Index returns the next word modulo n, which is what shuffles and shuffle
// queues pick by. It is as biased as that. n must be positive.
func (w *Words) Index(n int) int { return int(uint64(w.Next()) % uint64(n)) }

// Below returns an unbiased number in [0, n). n must be positive.
func (w *Words) Below(n uint64) uint64 {
	if n&(n-1) == 0 {
		return w.Next64() & (n - 1)
	}
	reject := math.MaxUint64%n + 1
	for {
		if v := w.Next64(); v >= reject {
			return v % n
		}
	}
}

// Float32 returns a number uniform in [0, 1).
func (w *Words) Float32() float32 { return float32From(w.Next()) }

// Below32 returns an integer uniform in [0, n): words that would make small ones
// more likely are left out.
func (w *Words) Below32(n uint32) uint32 {
	if n == 0 {
		w.Next() // takes a word all the same
		return 0
	}
	if n&(n-1) == 0 {
		return w.Next() & (n - 1)
	}
	reject := math.MaxUint32%n + 1
	for {
		if v := w.Next(); v >= reject {
			return v % n
		}
	}
}
