package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Reducer folds elements that have the same key: first makes the state of a
// key, next the state of a state and an element, last the result.
type Reducer struct{ Key, First, Next, Last Func }

// GroupByReducer returns what r makes of the elements of input, for one key
// after the other, in order of the keys.
func GroupByReducer(input Dataset, r Reducer, spec *Spec) Dataset {
	return &reduced{derived{common{spec}, input}, r}
}

type reduced struct {
	derived
	r Reducer
}

func (d *reduced) Cardinality() int64 { return Unknown }

func (d *reduced) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator {
		return &reduceIterator{taking: taking{over: o}, d: d, states: map[int64]Element{}}
	})
}

type reduceIterator struct {
	taking
	d      *reduced
	states map[int64]Element
	ended  bool    // the input has
	keys   []int64 // whose results are to come, once it has
}

func (it *reduceIterator) Next(ctx context.Context) (Element, error) {
	for !it.ended {
		e, err := it.take(ctx)
		if errors.Is(err, End) {
			it.finish()
			break
		}
		if err != nil {
			return nil, err
		}
		err = it.fold(ctx, e)
		if it.used(ctx, e, err); err != nil {
			return nil, err
		}
	}
	if len(it.keys) == 0 {
		return nil, End
	}
	e, err := it.d.r.Last(ctx, it.states[it.keys[0]])
	if interrupted(ctx, err) {
		return nil, err
	}
	if it.keys = it.keys[1:]; err != nil {
		return nil, err
	}
	return e, it.d.spec.Check(e)
}

// finish notes that the input has ended.
func (it *reduceIterator) finish() {
	it.ended = true
	for key := range it.states {
		it.keys = append(it.keys, key)
	}
	slices.Sort(it.keys)
}

// fold adds an element to the state of its key.
func (it *reduceIterator) fold(ctx context.Context, e Element) error {
	key, err := integerOf(ctx, it.d.r.Key, e, "`key_func` must return a scalar int64.")
	if err != nil {
		return err
	}
	state, begun := it.states[key]
	if !begun {
		if state, err = it.d.r.First(ctx, Element{core.Scalar(key)}); err != nil {
			return err
		}
	}
	if state, err = it.d.r.Next(ctx, slices.Concat(state, e)); err == nil {
		it.states[key] = state
	}
	return err
}

func (it *reduceIterator) Save(s *State) {
	it.taking.Save(s)
	s.PutBool("ended", it.ended)
	s.PutInt("left", int64(len(it.keys)))
	s.PutInt("states", int64(len(it.states)))
	i := 0
	for key, state := range it.states {
		part := s.Nth("state", i)
		part.PutInt("key", key)
		part.PutElement("value", state)
		i++
	}
}

func (it *reduceIterator) Restore(ctx context.Context, s *State) {
	it.restore(ctx, s, it.d.input.Spec())
	it.states, it.keys, it.ended = map[int64]Element{}, nil, false
	for i := range s.Count("states", int64(len(s.all.by))) {
		part := s.Nth("state", int(i))
		it.states[part.Int("key")] = part.Element("value")
	}
	if s.Bool("ended") {
		it.finish()
		it.keys = it.keys[len(it.keys)-int(s.Count("left", int64(len(it.keys)))):]
	}
}
