package dataset

import (
	"context"

	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf/core"
)

// GlobalShuffle returns the elements of input, which can be had in any order, in
// an order in which all are mixed.
func GlobalShuffle(input Dataset, seeds *Seeds) (Dataset, error) {
	if err := accessible(input); err != nil {
		return nil, core.Errorf(core.FailedPrecondition, "`global_shuffle` requires all upstream transformations be compatible with random access. Got: %s", core.AsError(err).Message())
	}
	if n := input.Cardinality(); n <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got cardinality %d.", n)
	}
	return &globallyShuffled{like(input), seeds}, nil
}

type globallyShuffled struct {
	derived
	seeds *Seeds
}

func (d *globallyShuffled) Iterate() (Iterator, error) {
	it := &globalIterator{d: d}
	it.seed, it.seed2 = d.seeds.next()
	it.seed3, _ = d.seeds.next()
	it.mix()
	return it, nil
}

type globalIterator struct {
	d                  *globallyShuffled
	seed, seed2, seed3 int64
	order              *random.IndexShuffle
	next               int64
}

// shuffleRounds is what TensorFlow's datasets take.
const shuffleRounds = 8

func (it *globalIterator) mix() {
	key := [3]uint32{uint32(it.seed), uint32(it.seed2), uint32(it.seed3)}
	it.order = random.NewIndexShuffle(key, uint64(it.d.Cardinality()-1), shuffleRounds)
}

func (it *globalIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	if it.next >= it.d.Cardinality() {
		return nil, End
	}
	it.next++
	return At(ctx, it.d.input, int64(it.order.At(uint64(it.next-1))))
}

func (it *globalIterator) Close() {}

func (it *globalIterator) Save(s *State) {
	s.PutInt("seed", it.seed)
	s.PutInt("seed2", it.seed2)
	s.PutInt("seed3", it.seed3)
	s.PutInt("next", it.next)
	s.PutInt("epoch", it.d.seeds.position())
}

func (it *globalIterator) Restore(_ context.Context, s *State) {
	it.seed, it.seed2, it.seed3, it.next = s.Int("seed"), s.Int("seed2"), s.Int("seed3"), s.Count("next", it.d.Cardinality())
	it.d.seeds.seek(s.Count("epoch", 1<<62))
	it.mix()
}
