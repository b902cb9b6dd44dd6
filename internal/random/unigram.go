package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

// UnigramCandidates draws classes as often as they have been learned, each of
// them once to begin with. It is not safe for concurrent use.
type UnigramCandidates struct {
	sums  []int32 // a Fenwick tree of weights, from 1 on
	total int32
}

// NewUnigramCandidates returns a sampler of classes below n, which must be
// positive and less than 1<<31 - 1.
func NewUnigramCandidates(n int) *UnigramCandidates {
	u := &UnigramCandidates{sums: memory.Make[int32](n + 1), total: int32(n)}
	for i := 1; i <= n; i++ {
		u.sums[i] = int32(i & -i) // so many ones
	}
	return u
}

// Range is the number of classes.
func (u *UnigramCandidates) Range() int64 { return int64(len(u.sums) - 1) }

// Draw returns a class.
func (u *UnigramCandidates) Draw(w *Words) int64 {
	at, rest := 0, int32(w.Below32(uint32(u.total)))
	for step := 1 << 30; step > 0; step >>= 1 {
		if next := at + step; next < len(u.sums) && u.sums[next] <= rest {
			at, rest = next, rest-u.sums[next]
		}
	}
	return int64(at)
}

// Probability is how likely Draw returns the class.
func (u *UnigramCandidates) Probability(class int64) float32 {
	i := int(class) + 1
	weight := u.sums[i]
	for k := i - 1; k > i-i&-i; k -= k & -k {
		weight -= u.sums[k]
	}
	return float32(weight) / float32(u.total)
}

// Learn makes each of classes, which must be in range, likelier by once.
func (u *UnigramCandidates) Learn(classes []int64) {
	for _, c := range classes[:min(len(classes), math.MaxInt32-int(u.total))] {
		for i := int(c) + 1; i < len(u.sums); i += i & -i {
			u.sums[i]++
		}
		u.total++
	}
}

// FixedCandidates draws classes by given weights, by the alias method.
type FixedCandidates struct {
	weights []float32
	total   float32
	keep    []float32 // how likely a class that was drawn evenly is kept
	other   []int32   // which is taken else
}

// NewFixedCandidates returns a sampler of as many classes as there are weights,
// at least one. total is their sum, in the order and the precision of the code that
// computed it.
func NewFixedCandidates(weights []float32, total float32) *FixedCandidates {
	n := len(weights)
	f := &FixedCandidates{weights: weights, total: total, keep: memory.Make[float32](n), other: memory.Make[int32](n)}
	sum := 0.0
	for i, w := range weights {
		sum += float64(w)
		f.other[i] = int32(i)
	}
	share := memory.Make[float64](n) // of an even share
	var low, high []int32
	for i, w := range weights {
		share[i] = float64(w*float32(n)) / sum
		if share[i] < 1 {
			low = append(low, int32(i))
		} else {
			high = append(high, int32(i))
		}
	}
	low, high = f.pair(share, low, high)
	for i, s := range share {
		f.keep[i] = float32(s)
	}
	for _, i := range append(low, high...) { // what rounding has left over
		f.keep[i], f.other[i] = 1, i
	}
	return f
}

// pair fills up the classes that have less than an even share with those that
// have more.
func (f *FixedCandidates) pair(share []float64, low, high []int32) (_, _ []int32) {
	for len(low) > 0 && len(high) > 0 {
		l, h := low[len(low)-1], high[len(high)-1]
		low, high = low[:len(low)-1], high[:len(high)-1]
		f.other[l] = h
		if share[h] -= 1 - share[l]; share[h] < 1 {
			low = append(low, h)
		} else {
			high = append(high, h)
		}
	}
	return low, high
}

// Range is the number of classes.
func (f *FixedCandidates) Range() int64 { return int64(len(f.weights)) }

// Draw returns a class.
func (f *FixedCandidates) Draw(w *Words) int64 {
	v := w.Float32()
	i := w.Below32(uint32(len(f.keep)))
	if v < f.keep[i] {
		return int64(i)
	}
	return int64(f.other[i])
}

// Probability is how likely Draw returns the class.
func (f *FixedCandidates) Probability(class int64) float32 { return f.weights[class] / f.total }

// Distinct is how many classes Draw returns at all.
func (f *FixedCandidates) Distinct() (n int64) {
	for _, p := range f.weights {
		if p > 0 {
			n++
		}
	}
	return n
}
