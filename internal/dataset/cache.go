package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// elements counts elements in words.
func elements(n int64) string {
	switch n {
	case Infinite:
		return "an infinite number of elements"
	case 1:
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// Cache returns input, and keeps its elements in memory: once an iterator has
// been through all, others give those.
func Cache(input Dataset) Dataset { return &cached{derived: like(input)} }

type cached struct {
	derived
	mu   sync.Mutex
	list []Element
	full bool
	some []Element // those up to the last that was asked for by number
}

// content returns what is kept, if it is all there.
func (d *cached) content() ([]Element, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list, d.full
}

func (d *cached) keep(list []Element) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.full {
		d.list, d.full = list, true
	}
}

func (d *cached) Iterate() (Iterator, error) {
	it := &cacheIterator{d: d}
	if list, ok := d.content(); ok {
		it.list, it.full = list, true
		return it, nil
	}
	var err error
	it.input, err = d.input.Iterate()
	return it, err
}

// cacheIterator writes the list, or, if that is full, reads it.
type cacheIterator struct {
	d     *cached
	input Iterator // nil when the list is full
	list  []Element
	full  bool
	next  int
}

func (it *cacheIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	if it.next < len(it.list) {
		it.next++
		return it.list[it.next-1], nil
	}
	if it.full {
		return nil, End
	}
	e, err := it.input.Next(ctx)
	switch {
	case errors.Is(err, End):
		it.full = true
		it.d.keep(it.list)
	case err == nil:
		it.list = append(it.list, e)
		it.next++
	}
	return e, err
}

func (it *cacheIterator) Close() {
	if it.input != nil {
		it.input.Close()
	}
}

func (it *cacheIterator) Save(s *State) {
	s.PutElements("list", it.list)
	s.PutBool("full", it.full)
	s.PutInt("next", int64(it.next))
	if !it.full {
		it.input.Save(s.Sub("input"))
	}
}

func (it *cacheIterator) Restore(ctx context.Context, s *State) {
	it.list, it.full = s.Elements("list"), s.Bool("full")
	it.next = int(s.Count("next", int64(len(it.list))))
	if it.full {
		it.d.keep(it.list)
		return
	}
	if it.input == nil {
		var err error
		if it.input, err = it.d.input.Iterate(); err != nil {
			s.Fail(err)
			return
		}
	}
	it.input.Restore(ctx, s.Sub("input"))
}
