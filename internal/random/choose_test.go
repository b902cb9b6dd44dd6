package random

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// order returns 0 … n−1 shuffled.
func order(base Philox, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	Shuffle(base, s)
	return s
}

func TestShuffle(t *testing.T) {
	for _, n := range []int{0, 1, 2, 20, 33} {
		eachSeed(t, func(t *testing.T, g *Generator, at string, run int) {
			got := order(g.ReserveBlocks(ShuffleBlocks(n)), n)
			compare(t, got, want(t, "RandomShuffle %d %s out=0 run=%d", n, at, run))
		})
	}
	for _, s := range statelessSeeds {
		compare(t, order(FromSeed(s), 20), want(t, "StatelessShuffle 20 seed=%d,%d", s[0], s[1]))
	}
}

func exponentials(y, x []float64) {
	for i, v := range x {
		y[i] = math.Exp(v)
	}
}

// TestShuffleOfMany compares with picking one by one.
func TestShuffleOfMany(t *testing.T) {
	want := make([]int, 5000)
	for i := range want {
		want[i] = i
	}
	w := NewWords(New(3, 4))
	for i := range len(want) - 1 {
		k := i + w.Index(len(want)-i)
		want[i], want[k] = want[k], want[i]
	}
	if got := order(New(3, 4), len(want)); !slices.Equal(got, want) {
		t.Error("another order")
	}
}

func TestMultinomial(t *testing.T) {
	const classes, samples = 5, 21
	inf, nan := math.Inf(1), math.NaN()
	logits := []float64{
		0, 1, 2, -1, 0.5,
		3, 0, 0, -inf, 1,
		inf, nan, -inf, nan, inf, // nothing to choose
	}
	logits32 := make([]float32, len(logits))
	for i, v := range logits {
		logits32[i] = float32(v)
	}
	eachSeed(t, func(t *testing.T, g *Generator, at string, run int) {
		base := g.ReserveBlocks(MultinomialBlocks(3, samples))
		wide := make([]int64, 3*samples)
		Multinomial(base, exponentials, logits, classes, samples, wide)
		compare(t, wide, want(t, "Multinomial float64 %s out=0 run=%d", at, run))
		narrow := make([]int32, 3*samples)
		Multinomial(base, exponentials, logits32, classes, samples, narrow)
		compare(t, narrow, want(t, "Multinomial float32 %s out=0 run=%d", at, run))
	})
	for _, s := range statelessSeeds {
		out := make([]int64, samples)
		Multinomial(FromSeed(s), exponentials, logits[:classes], classes, samples, out)
		compare(t, out, want(t, "StatelessMultinomial seed=%d,%d", s[0], s[1]))
	}
}

func TestCandidateSamplers(t *testing.T) {
	const n = 20
	for _, size := range []int64{32, 100} {
		for op, d := range map[string]CandidateDistribution{
			"UniformCandidateSampler":    UniformCandidates(size),
			"LogUniformCandidateSampler": LogUniformCandidates(size),
		} {
			for _, unique := range []bool{false, true} {
				name := fmt.Sprintf("%s %d unique=%d", op, size, map[bool]int{true: 1}[unique])
				t.Run(name, func(t *testing.T) { checkSampler(t, name, d, unique, n) })
			}
		}
	}
}

// checkSampler compares the three outputs of a candidate sampler.
func checkSampler(t *testing.T, name string, d CandidateDistribution, unique bool, n int) {
	eachSeed(t, func(t *testing.T, g *Generator, at string, run int) {
		out := make([]int64, n)
		tries, err := SampleCandidates(g.ReserveBlocks(SamplerBlocks(n)), d, unique, out)
		if err != nil {
			t.Fatal(err)
		}
		expected := func(classes ...int64) []float32 {
			counts := make([]float32, len(classes))
			for i, c := range classes {
				counts[i] = ExpectedCount(d.Probability(c), n, tries)
			}
			return counts
		}
		compare(t, out, want(t, "%s %s out=0 run=%d", name, at, run))
		// TensorFlow's last bit is that of its C library, whose log1pf and
		// expm1f are not correctly rounded in every release.
		closeTo(t, expected(0, 5), want(t, "%s %s out=1 run=%d", name, at, run), 1)
		closeTo(t, expected(out...), want(t, "%s %s out=2 run=%d", name, at, run), 1)
	})
}

func TestSamplersRefuseWhatCannotEnd(t *testing.T) {
	for _, tc := range []struct {
		d    CandidateDistribution
		n    int
		want string
	}{
		{UniformCandidates(3), 4, "Sampler's range is too small: 4 different classes out of 3"},
		{LogUniformCandidates(3), 4, "Sampler's range is too small: 4 different classes out of 3"},
		{UniformCandidates(0), 1, "a candidate sampler needs a positive range, got 0"},
		{LogUniformCandidates(-2), 1, "a candidate sampler needs a positive range, got -2"},
	} {
		_, err := SampleCandidates(New(1, 3), tc.d, true, make([]int64, tc.n))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%T %d: error %v, want %s", tc.d, tc.d.Range(), err, tc.want)
		}
	}
}

// TestShuffleQueue takes elements as RandomShuffleQueue does: the last one
// fills the gap.
func TestShuffleQueue(t *testing.T) {
	w := NewWords(New(1, 3))
	for run := 1; run <= 2; run++ {
		queue := order(Philox{}, 0)
		for i := range 20 {
			queue = append(queue, i)
		}
		var got []int
		for len(queue) > 0 {
			i, last := w.Index(len(queue)), len(queue)-1
			got = append(got, queue[i])
			queue[i] = queue[last]
			queue = queue[:last]
		}
		compare(t, got, want(t, "RandomShuffleQueue 20 run=%d", run))
	}
}

func TestDatasetShuffleSeeds(t *testing.T) {
	epochs := NewEpochSeeds(1, 3)
	for epoch := 1; epoch <= 3; epoch++ {
		seed, seed2 := epochs.Next()
		compare(t, shuffleRange(New(seed, seed2), 20, 8), want(t, "Dataset.shuffle 20 buffer=8 reshuffle=1 epoch=%d", epoch))
		compare(t, shuffleRange(New(1, 3), 20, 8), want(t, "Dataset.shuffle 20 buffer=8 reshuffle=0 epoch=%d", epoch))
	}
}

// shuffleRange is a dataset's shuffle of 0 … n−1 with a buffer: the picked
// element leaves, the first one takes its place, and the next input joins at
// the end.
func shuffleRange(base Philox, n, size int) []int {
	w := NewWords(base)
	var buffer, out []int
	for next := 0; len(out) < n; {
		for ; next < n && len(buffer) < size; next++ {
			buffer = append(buffer, next)
		}
		i := w.Index(len(buffer))
		out = append(out, buffer[i])
		buffer[i] = buffer[0]
		buffer = buffer[1:]
	}
	return out
}
