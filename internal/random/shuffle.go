package random

import "math"

// Shuffle permutes x in the order of RandomShuffle: each element is exchanged for
// the one that the next word, modulo how many there are left, picks of the rest.
func Shuffle[T any](base Philox, x []T) {
	if len(x) < 2 {
		return
	}
	base.eachWords(len(x)-1, func(words []uint32) {
		for _, w := range words[:min(len(words), len(x)-1)] {
			at := uint64(w)
			if n := uint64(len(x)); n <= math.MaxUint32 { // a division of half the bits
				at = uint64(w % uint32(n))
			}
			x[0], x[at] = x[at], x[0]
			x = x[1:]
		}
	})
}

// ShuffleBlocks is how many blocks a RandomShuffle of n things takes.
func ShuffleBlocks(n int) uint64 {
	if n <= 1 {
		return 0
	}
	return (uint64(n-1) + 3) / 4
}

// EpochSeeds makes the seeds that a reshuffling dataset gives the iterators of
// its epochs.
type EpochSeeds struct{ words Words }

// NewEpochSeeds returns the seeds of the epochs of a dataset with these seeds.
func NewEpochSeeds(seed, seed2 int64) *EpochSeeds {
	return &EpochSeeds{words: Words{p: New(seed, seed2)}}
}

// Next returns the seeds of the next epoch.
func (e *EpochSeeds) Next() (seed, seed2 int64) {
	seed = int64(e.words.Next())
	return seed, int64(e.words.Next())
}
