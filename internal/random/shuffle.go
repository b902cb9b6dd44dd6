package random

// Shuffle permutes n things in the order of RandomShuffle; swap exchanges two of
// them.
func Shuffle(base Philox, n int, swap func(i, j int)) {
	w := NewWords(base)
	for i := range n - 1 {
		swap(i, i+w.Index(n-i))
	}
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
