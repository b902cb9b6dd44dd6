package dataset

import (
	"context"
	"math"

	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf/core"
)

// Random returns random numbers of 32 bits, without end.
func Random(seeds *Seeds) Dataset {
	return &chance{common{&Spec{[]core.DType{core.Int64}, []core.Shape{{}}}}, seeds}
}

type chance struct {
	common
	seeds *Seeds
}

func (d *chance) Cardinality() int64 { return Infinite }

func (d *chance) Iterate() (Iterator, error) {
	it := &chanceIterator{seeds: d.seeds}
	it.seed, it.seed2 = d.seeds.next()
	it.words = wordsFrom(it.seed, it.seed2, 0)
	return it, nil
}

type chanceIterator struct {
	seeds              *Seeds
	seed, seed2, drawn int64
	words              *random.Words
}

func (it *chanceIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	it.drawn++
	return Element{core.Scalar(int64(it.words.Next()))}, nil
}

func (it *chanceIterator) Save(s *State) {
	s.PutInt("seed", it.seed)
	s.PutInt("seed2", it.seed2)
	s.PutInt("drawn", it.drawn)
	s.PutInt("epoch", it.seeds.position())
}

func (it *chanceIterator) Restore(_ context.Context, s *State) {
	it.seed, it.seed2, it.drawn = s.Int("seed"), s.Int("seed2"), s.Count("drawn", math.MaxInt64)
	it.words = wordsFrom(it.seed, it.seed2, it.drawn)
	it.seeds.seek(s.Count("epoch", math.MaxInt64))
}

func (it *chanceIterator) Close() {}
