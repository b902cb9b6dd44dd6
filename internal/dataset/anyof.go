package dataset

import (
	"context"
	"errors"
)

// anyIterator is an interleaveIterator that takes elements from the lanes that
// have one.
type anyIterator struct{ *interleaveIterator }

func (it *anyIterator) Next(ctx context.Context) (Element, error) {
	for {
		if err := it.fill(ctx); err != nil {
			return nil, err
		}
		if it.exhausted() {
			return nil, End
		}
		e, err := it.take(ctx)
		switch {
		case errors.Is(err, errNone):
		case errors.Is(err, End):
			continue // another lane begins
		default:
			return e, err
		}
		select {
		case <-it.news:
		case <-ctx.Done():
			return nil, cancelled(ctx)
		}
	}
}

// fill begins with as many datasets as there are lanes.
func (it *anyIterator) fill(ctx context.Context) error {
	for i := 0; int64(i) < it.d.cycle && !it.ended; i++ {
		if i == len(it.lanes) {
			it.lanes = append(it.lanes, lane{})
		}
		if it.lanes[i].input == nil {
			if err := it.open(ctx, &it.lanes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// errNone says that no lane has an element yet.
var errNone = errors.New("no element is there")

// take takes an element from the first lane that has one, from the one that it is
// at on. End is that of the lane.
func (it *anyIterator) take(ctx context.Context) (Element, error) {
	for k := range it.lanes {
		i := (it.at + k) % len(it.lanes)
		p, ok := it.lanes[i].input.(*prefetchIterator)
		if !ok || !p.has() {
			continue
		}
		e, err := p.Next(ctx)
		if errors.Is(err, End) {
			p.Close()
			it.lanes[i] = lane{}
			return nil, End
		}
		if i != it.at {
			it.at, it.taken = i, 0
		}
		if it.taken++; it.taken == it.d.block {
			it.advance()
		}
		if err != nil {
			return nil, err
		}
		return e, it.d.spec.Check(e)
	}
	return nil, errNone
}
