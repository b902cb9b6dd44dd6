package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Multinomial draws samples classes for every row of logits, which has classes
// columns, into the rows of out. The rows share one stream of words, so the
// work cannot be split and keep its numbers. Infinite logits and NaN have no
// probability; a row of nothing else yields the number of classes. exp sets y to
// the exponentials of x.
func Multinomial[F float32 | float64, I int32 | int64](base Philox, exp func(y, x []float64), logits []F, classes, samples int, out []I) {
	w := NewWords(base)
	cumulative := memory.Make[float64](classes)
	for ; len(out) > 0; logits, out = logits[classes:], out[samples:] {
		total := accumulate(exp, logits[:classes], cumulative)
		for i := range out[:samples] {
			x := w.Float64() * total
			out[i] = I(firstAbove(cumulative, x))
		}
	}
}

// firstAbove returns the first of the ascending sums that is above x, len(sums) if none is.
func firstAbove(sums []float64, x float64) int {
	lo, hi := 0, len(sums)
	for lo < hi {
		if h := int(uint(lo+hi) >> 1); sums[h] > x {
			hi = h
		} else {
			lo = h + 1
		}
	}
	return lo
}

// accumulate writes the running sums of the unscaled probabilities and returns
// the last.
func accumulate[F float32 | float64](exp func(y, x []float64), logits []F, sums []float64) float64 {
	highest := highestFinite(logits)
	for j, v := range logits {
		x := float64(v)
		if x-x != 0 {
			x = math.Inf(-1)
		}
		sums[j] = x - highest
	}
	exp(sums, sums)
	total := 0.0
	for j, p := range sums {
		total += p
		sums[j] = total
	}
	return total
}

// highestFinite is the largest logit; subtracting it keeps exponentials in
// range.
func highestFinite[F float32 | float64](logits []F) float64 {
	highest := -math.MaxFloat64
	for _, v := range logits {
		if x := float64(v); x > highest && x <= math.MaxFloat64 {
			highest = x
		}
	}
	return highest
}

// MultinomialBlocks is how many blocks a stateful Multinomial takes for rows of
// samples.
func MultinomialBlocks(rows, samples int) uint64 {
	return 256 * 2 * uint64(rows) * ((uint64(samples) + 3) / 4 * 4)
}
