package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// Reduce calls f with a state and each element in turn. What f returns is the
// next state; the last one is the result.
func Reduce(ctx context.Context, d Dataset, state Element, f Func) (Element, error) {
	it, err := d.Iterate()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for {
		e, err := it.Next(ctx)
		if errors.Is(err, End) {
			return state, nil
		}
		if err != nil {
			return nil, err
		}
		if state, err = f(ctx, append(append(Element{}, state...), e...)); err != nil {
			return nil, err
		}
	}
}

// Single returns the one element of d.
func Single(ctx context.Context, d Dataset) (Element, error) {
	it, err := d.Iterate()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	e, err := it.Next(ctx)
	if errors.Is(err, End) {
		return nil, core.Errorf(core.InvalidArgument, "Dataset was empty.")
	}
	if err != nil {
		return nil, err
	}
	if _, err := it.Next(ctx); !errors.Is(err, End) {
		if err != nil {
			return nil, err
		}
		return nil, core.Errorf(core.InvalidArgument, "Dataset had more than one element.")
	}
	return e, nil
}

// Scan returns what f makes of a state and each element of input: f returns the
// next state and then an element.
func Scan(input Dataset, state Element, f Func, spec *Spec, keep bool) Dataset {
	d := derived{common{spec}, input}
	return &scanned{d, mapped{d, f, keep}, state}
}

// scanned does not embed mapped: it has no elements by number, since each depends on
// those before it.
type scanned struct {
	derived
	mapped mapped
	state  Element
}

func (d *scanned) Cardinality() int64 { return d.mapped.Cardinality() }

func (d *scanned) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &scanIterator{taking{over: o}, d, d.state} })
}

type scanIterator struct {
	taking
	d     *scanned
	state Element
}

func (it *scanIterator) Next(ctx context.Context) (Element, error) {
	e, err := it.take(ctx)
	if err != nil {
		return nil, err
	}
	out, err := it.d.mapped.f(ctx, append(append(Element{}, it.state...), e...))
	it.used(ctx, e, err)
	switch {
	case err != nil:
		return nil, it.d.mapped.failed(err)
	case len(out) < len(it.state):
		return nil, core.Errorf(core.InvalidArgument, "`scan_func` must return at least %d values, got %d", len(it.state), len(out))
	}
	for i, t := range it.state {
		if out[i].DType() != t.DType() {
			return nil, core.Errorf(core.InvalidArgument, "Got wrong type for scan_func return value %d (expected %s, got %s).", i, t.DType().CName(), out[i].DType().CName())
		}
	}
	e = out[len(it.state):]
	it.state = out[:len(it.state)]
	return e, it.d.spec.Check(e)
}

func (it *scanIterator) Save(s *State) {
	it.taking.Save(s)
	s.PutElement("state", it.state)
}

func (it *scanIterator) Restore(ctx context.Context, s *State) {
	it.restore(ctx, s, it.d.input.Spec())
	it.state = s.Element("state")
}

// Sized returns input, declared to have n elements; that it
// has is found out when it ends.
func Sized(input Dataset, n int64) Dataset { return &sized{like(input), n} }

type sized struct {
	derived
	n int64
}

func (d *sized) Cardinality() int64 { return d.n }

func (d *sized) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &sizedIterator{over: o, n: d.n} })
}

type sizedIterator struct {
	over
	n, given int64
}

func (it *sizedIterator) Next(ctx context.Context) (Element, error) {
	e, err := it.input.Next(ctx)
	if err == nil {
		it.given++
	}
	ended := errors.Is(err, End)
	switch {
	case it.n == Unknown:
	case ended && it.given != it.n:
		return nil, core.Errorf(core.FailedPrecondition, "Input dataset was expected to contain %s but contained only %s.", elements(it.n), elements(it.given))
	case it.n != Infinite && it.given > it.n:
		return nil, core.Errorf(core.FailedPrecondition, "Input dataset was expected to contain %s but contained at least %s.", elements(it.n), elements(it.given))
	}
	return e, err
}

func (it *sizedIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("given", it.given)
}

func (it *sizedIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.given = s.Int("given")
}
