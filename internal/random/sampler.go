package random

import (
	"fmt"
	"math"
)

// CandidateDistribution is what candidate samplers draw class numbers from.
type CandidateDistribution interface {
	// Range is the number of classes.
	Range() int64
	// Draw returns a class.
	Draw(w *Words) int64
	// Probability is how likely Draw returns the class.
	Probability(class int64) float32
}

// UniformCandidates draws all classes with the same probability.
type UniformCandidates int64

// Range is the number of classes.
func (u UniformCandidates) Range() int64 { return int64(u) }

// Draw returns a class.
func (u UniformCandidates) Draw(w *Words) int64 { return int64(w.Below(uint64(u))) }

// Probability is how likely Draw returns the class.
func (u UniformCandidates) Probability(int64) float32 { return float32(1 / float64(u)) }

// LogUniformCandidates draws low classes more often, about as words of a
// language are when they are numbered by how common they are.
type LogUniformCandidates int64

// Range is the number of classes.
func (l LogUniformCandidates) Range() int64 { return int64(l) }

// Draw returns a class.
func (l LogUniformCandidates) Draw(w *Words) int64 {
	v := int64(math.Exp(w.Float64()*l.logRange())) - 1
	return v % int64(l)
}

// Probability is how likely Draw returns the class.
func (l LogUniformCandidates) Probability(class int64) float32 {
	v := float64(class)
	return float32(math.Log((v+2)/(v+1)) / l.logRange())
}

func (l LogUniformCandidates) logRange() float64 { return math.Log1p(float64(l)) }

// SampleCandidates fills out with classes, different ones when unique is set,
// and returns how many draws it took.
func SampleCandidates(base Philox, d CandidateDistribution, unique bool, out []int64) (tries int, err error) {
	if d.Range() <= 0 {
		return 0, fmt.Errorf("a candidate sampler needs a positive range, got %d", d.Range())
	}
	w := NewWords(base)
	if unique {
		return sampleUnique(w, d, out)
	}
	for i := range out {
		out[i] = d.Draw(w)
	}
	return len(out), nil
}

func sampleUnique(w *Words, d CandidateDistribution, out []int64) (tries int, err error) {
	if int64(len(out)) > d.Range() {
		return 0, fmt.Errorf("Sampler's range is too small: %d different classes out of %d", len(out), d.Range())
	}
	if f, ok := d.(interface{ Distinct() int64 }); ok && int64(len(out)) > f.Distinct() {
		return 0, fmt.Errorf("Sampler's range is too small: %d different classes out of %d that are drawn at all", len(out), f.Distinct())
	}
	seen := make(map[int64]struct{}, len(out))
	for n := 0; n < len(out); tries++ {
		v := d.Draw(w)
		if _, again := seen[v]; !again {
			seen[v] = struct{}{}
			out[n] = v
			n++
		}
	}
	return tries, nil
}

// ExpectedCount is how often a class of probability p is expected among n
// samples that took so many tries. It may differ from TensorFlow's in the last
// bit.
func ExpectedCount(p float32, n, tries int) float32 {
	if tries == n {
		return p * float32(n)
	}
	log := float32(math.Log1p(-float64(p)))
	return -float32(math.Expm1(float64(float32(tries) * log)))
}

// SamplerBlocks is how many blocks a candidate sampler takes for n samples.
func SamplerBlocks(n int) uint64 { return 2048 / 4 * uint64(n) }
