package dataset

import (
	"context"
	"errors"
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// Take returns the first n elements of input, all for n < 0.
func Take(input Dataset, n int64) Dataset {
	if n < 0 {
		n = math.MaxInt64
	}
	return &part{like(input), 0, n, 1}
}

// Skip returns input without its first n elements, nothing for n < 0.
func Skip(input Dataset, n int64) Dataset {
	if n < 0 {
		return &part{like(input), 0, 0, 1}
	}
	return &part{like(input), n, math.MaxInt64, 1}
}

// Shard returns every of-th element of input, from element index on.
func Shard(input Dataset, of, index int64) (Dataset, error) {
	if of < 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Number of shards must be greater than zero (currently num_shards = %d).", of)
	}
	if index < 0 || index >= of {
		return nil, tf.Errorf(tf.InvalidArgument, "Index must be between 0 and %d (currently index = %d).", of-1, index)
	}
	return &part{like(input), index, math.MaxInt64, of}, nil
}

// part has every step-th element of the input, after the first skip ones, and
// at most most.
type part struct {
	derived
	skip, most, step int64
}

func (d *part) Cardinality() int64 {
	n := d.input.Cardinality()
	switch {
	case d.most == 0:
		return 0
	case n == Infinite && d.most != math.MaxInt64:
		return d.most
	case n < 0:
		return n
	}
	n = max(0, n-d.skip)
	return min(d.most, n/d.step+min(1, n%d.step))
}

func (d *part) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &partIterator{over: o, d: d, skip: d.skip} })
}

type partIterator struct {
	over
	d           *part
	given, skip int64 // skip is how many elements are to be left out next
}

func (it *partIterator) Next(ctx context.Context) (Element, error) {
	if it.given >= it.d.most {
		return nil, End
	}
	for ; it.skip > 0; it.skip-- {
		if _, err := it.input.Next(ctx); err != nil {
			return nil, err
		}
	}
	e, err := it.input.Next(ctx)
	if err == nil {
		it.given++
		it.skip = it.d.step - 1
	}
	return e, err
}

func (it *partIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("given", it.given)
	s.PutInt("skip", it.skip)
}

func (it *partIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.given, it.skip = s.Count("given", it.d.most), s.Count("skip", max(it.d.skip, it.d.step))
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

func (d *repeated) Iterate() (Iterator, error) { return &repeatIterator{d: d}, nil }

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
