package dataset

import (
	"context"
	"errors"
	"math"

	"github.com/gorge-tf/gorge/tf/core"
)

// Take returns the first n elements of input, all for n < 0.
func Take(input Dataset, n int64) Dataset {
	if n < 0 {
		n = math.MaxInt64
	}
	return &part{derived: like(input), most: n, step: 1}
}

// Skip returns input without its first n elements, nothing for n < 0.
func Skip(input Dataset, n int64) Dataset {
	if n < 0 {
		return &part{derived: like(input), step: 1}
	}
	return &part{derived: like(input), skip: n, most: math.MaxInt64, step: 1}
}

// Shard returns every of-th element of input, from element index on.
func Shard(input Dataset, of, index int64) (Dataset, error) {
	if of < 1 && of != HintedShards {
		return nil, core.Errorf(core.InvalidArgument, "Number of shards must be greater than zero (currently num_shards = %d).", of)
	}
	if of != HintedShards && (index < 0 || index >= of) {
		return nil, core.Errorf(core.InvalidArgument, "Index must be between 0 and %d (currently index = %d).", of-1, index)
	}
	return &part{derived: like(input), skip: index, most: math.MaxInt64, step: of}, nil
}

// HintedShards is a number of shards that stands for one that is put in its
// place later. Until then there is no iterator.
const HintedShards = -1

// ShardFiles is Shard for names of files, of which there must be at least one for
// each shard.
func ShardFiles(input Dataset, of, index int64) (Dataset, error) {
	d, err := Shard(input, of, index)
	if p, ok := d.(*part); ok {
		p.least = of
	}
	return d, err
}

// part has every step-th element of the input, after the first skip ones, and
// at most most.
type part struct {
	derived
	skip, most, step int64
	least            int64 // how many elements the input must have, if there is one to give
}

func (d *part) Cardinality() int64 {
	n := d.input.Cardinality()
	switch {
	case d.most == 0:
		return 0
	case d.step == HintedShards:
		return n
	case n == Infinite && d.most != math.MaxInt64:
		return d.most
	case n < 0:
		return n
	}
	n = max(0, n-d.skip)
	return min(d.most, n/d.step+min(1, n%d.step))
}

func (d *part) Iterate() (Iterator, error) {
	if d.step == HintedShards {
		return nil, core.Errorf(core.FailedPrecondition, "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in `tf.distribute.Strategy.experimental_distribute_dataset()` with "+
			"`tf.data.experimental.AutoShardPolicy.HINT` policy, or tf.data service with `tf.data.experimental.service.ShardingPolicy.HINT` processing mode.")
	}
	return iterate(d.input, func(o over) Iterator { return &partIterator{over: o, d: d, skip: d.skip} })
}

type partIterator struct {
	over
	d           *part
	given, skip int64     // skip is how many elements are to be left out next
	taken       []Element // the first one, while it is looked ahead
}

func (it *partIterator) Next(ctx context.Context) (Element, error) {
	if it.given >= it.d.most {
		return nil, End
	}
	if len(it.taken) == 0 {
		if err := it.advance(ctx); err != nil {
			return nil, err
		}
	}
	if err := it.check(ctx); err != nil {
		return nil, err
	}
	return it.give(), nil
}

// advance finds the next element.
func (it *partIterator) advance(ctx context.Context) error {
	for ; it.skip > 0; it.skip-- {
		if _, err := it.input.Next(ctx); err != nil {
			return err
		}
	}
	e, err := it.input.Next(ctx)
	if err == nil {
		it.taken, it.skip = append(it.taken, e), it.d.step-1
	}
	return err
}

func (it *partIterator) give() Element {
	e := it.taken[0]
	it.taken = it.taken[:0]
	it.given++
	return e
}

// check looks ahead, after the first element, for as many as there must be. It goes on where
// an error of the input, as of a context that has ended, has stopped it.
func (it *partIterator) check(ctx context.Context) error {
	if it.given > 0 {
		return nil
	}
	for have := it.d.skip + it.d.step - it.skip; have < it.d.least; have++ {
		_, err := it.input.Next(ctx)
		switch {
		case errors.Is(err, End):
			it.give() // it is refused once
			return core.Errorf(core.InvalidArgument, "Could not apply FILE based sharding: the dataset only has %d file(s), which is not enough for the required %d shards/workers. "+
				"If you are using datasets with distribution strategy, consider setting the auto sharding policy to either DATA or OFF using the `experimental_distribute.auto_shard_policy` option of `tf.data.Options()`. "+
				"Or, split your input files into a larger number of small files such that number of files is greater than number of shards/workers.", have, it.d.least)
		case err != nil:
			return err
		}
		it.skip--
	}
	return nil
}

func (it *partIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("given", it.given)
	s.PutInt("skip", it.skip)
	s.putTaken(it.taken)
}

func (it *partIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.given, it.skip = s.Count("given", it.d.most), s.Count("skip", max(it.d.skip, it.d.step))
	it.taken = s.taken(it.d.Spec())
}

// Repeat returns the elements of input n times, for ever if n < 0.
func Repeat(input Dataset, n int64) Dataset { return &repeated{like(input), n} }

type repeated struct {
	derived
	n int64
}

func (d *repeated) Cardinality() int64 {
	n := d.input.Cardinality()
	switch {
	case d.n == 0 || n == 0:
		return 0
	case d.n < 0:
		return Infinite
	case n > 0 && n > math.MaxInt64/d.n:
		return Infinite
	case n > 0:
		return n * d.n
	}
	return n
}

// Iterate begins the first round at once: what its input draws by lot belongs to
// the iterator's state.
func (d *repeated) Iterate() (Iterator, error) {
	it := &repeatIterator{d: d}
	if d.n == 0 {
		return it, nil
	}
	return it, it.begin()
}

type repeatIterator struct {
	d     *repeated
	input Iterator // nil between two rounds
	round int64
	empty bool // this round has given nothing yet
}

func (it *repeatIterator) Next(ctx context.Context) (Element, error) {
	for it.d.n < 0 || it.round < it.d.n {
		if err := it.begin(); err != nil {
			return nil, err
		}
		e, err := it.input.Next(ctx)
		if !errors.Is(err, End) {
			it.empty = false
			return e, err
		}
		it.Close()
		it.round++
		if it.empty && it.d.n < 0 {
			it.round = 0
			return nil, End // it would go on like this for ever
		}
		if ctx.Err() != nil { // an input without elements need not ask
			return nil, cancelled(ctx)
		}
	}
	return nil, End
}

// begin begins a round, unless one is under way.
func (it *repeatIterator) begin() (err error) {
	if it.input == nil {
		it.input, err = it.d.input.Iterate()
		it.empty = true
	}
	return err
}

func (it *repeatIterator) Close() {
	if it.input != nil {
		it.input.Close()
		it.input = nil
	}
}

func (it *repeatIterator) Save(s *State) {
	s.PutInt("round", it.round)
	s.PutBool("empty", it.empty)
	s.PutBool("begun", it.input != nil)
	if it.input != nil {
		it.input.Save(s.Sub("input"))
	}
}

func (it *repeatIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	it.round = s.Count("round", math.MaxInt64)
	if s.Bool("begun") {
		if err := it.begin(); err != nil {
			s.Fail(err)
			return
		}
		it.input.Restore(ctx, s.Sub("input"))
	}
	it.empty = s.Bool("empty")
}
