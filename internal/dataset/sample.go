package dataset

import (
	"context"
	"math"

	"github.com/gorge-tf/gorge/internal/random"
)

// Sample returns each element of input with a probability.
func Sample(input Dataset, rate float32, seeds *Seeds) Dataset {
	return &sampled{like(input), rate, seeds}
}

type sampled struct {
	derived
	rate  float32
	seeds *Seeds
}

func (d *sampled) Cardinality() int64 {
	if n := d.input.Cardinality(); n == 0 || n == Infinite && d.rate > 0 {
		return n
	}
	return Unknown
}

func (d *sampled) Iterate() (Iterator, error) {
	seed, seed2 := d.seeds.next()
	return iterate(d.input, func(o over) Iterator {
		return &sampleIterator{over: o, rate: d.rate, seed: seed, seed2: seed2, words: wordsFrom(seed, seed2, 0)}
	})
}

type sampleIterator struct {
	over
	rate               float32
	seed, seed2, drawn int64
	words              *random.Words
}

func (it *sampleIterator) Next(ctx context.Context) (Element, error) {
	for {
		e, err := it.input.Next(ctx)
		if err != nil {
			return nil, err
		}
		it.drawn++
		if unit(it.words.Next()) < it.rate {
			return e, nil
		}
	}
}

// unit makes a number in [0, 1) of the low bits of a word, as TensorFlow does.
func unit(word uint32) float32 { return math.Float32frombits(127<<23|word&(1<<23-1)) - 1 }

func (it *sampleIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("seed", it.seed)
	s.PutInt("seed2", it.seed2)
	s.PutInt("drawn", it.drawn)
}

func (it *sampleIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.seed, it.seed2, it.drawn = s.Int("seed"), s.Int("seed2"), s.Count("drawn", math.MaxInt64)
	it.words = wordsFrom(it.seed, it.seed2, it.drawn)
}
