package random

import (
	"math"
	"sort"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Multinomial draws samples classes for every row of logits, which has classes
// columns, into the rows of out. The rows share one stream of words, so the
// work cannot be split and keep its numbers. Infinite logits and NaN have no
// probability; a row of nothing else yields the number of classes.
func Multinomial[F float32 | float64, I int32 | int64](base Philox, logits []F, classes, samples int, out []I) {
	w := NewWords(base)
	cumulative := memory.Make[float64](classes)
	for ; len(out) > 0; logits, out = logits[classes:], out[samples:] {
		total := accumulate(logits[:classes], cumulative)
		for i := range out[:samples] {
			x := w.Float64() * total
			out[i] = I(sort.Search(classes, func(j int) bool { return cumulative[j] > x }))
		}
	}
}

// accumulate writes the running sums of the unscaled probabilities and returns
// the last.
func accumulate[F float32 | float64](logits []F, sums []float64) float64 {
	highest := highestFinite(logits)
	total := 0.0
	for j, v := range logits {
		if x := float64(v); finite(x) {
			total += math.Exp(x - highest)
		}
		sums[j] = total
	}
	return total
}

// highestFinite is the largest logit; subtracting it keeps exponentials in
// range.
func highestFinite[F float32 | float64](logits []F) float64 {
	highest := -math.MaxFloat64
	for _, v := range logits {
		if x := float64(v); finite(x) {
			highest = max(highest, x)
		}
	}
	return highest
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// MultinomialBlocks is how many blocks a stateful Multinomial takes for rows of
// samples.
func MultinomialBlocks(rows, samples int) uint64 {
	return 256 * 2 * uint64(rows) * ((uint64(samples) + 3) / 4 * 4)
}
