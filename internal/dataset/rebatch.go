package dataset

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf/core"
)

// span returns the rows of each component from lo up to hi.
func span(e Element, lo, hi int) Element {
	out := make(Element, len(e))
	for k, t := range e {
		out[k] = core.NewTensor(t.DType(), withRows(t.Shape()[1:], hi-lo))
		each := t.Shape()[1:].NumElements()
		rows.Copy(out[k], t, 0, lo*each, (hi-lo)*each)
	}
	return out
}

// cat returns the rows of all elements, which differ in how many they have at
// most.
func cat(list []Element) (Element, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	out := make(Element, len(list[0]))
	for k, first := range list[0] {
		n := 0
		for _, e := range list {
			if !e[k].Shape()[1:].Equal(first.Shape()[1:]) {
				return nil, core.Errorf(core.InvalidArgument, "Cannot concatenate batches of rows with different shapes in component %d: %s and %s.", k, first.Shape().String(), e[k].Shape().String())
			}
			n += e[k].Dim(0)
		}
		out[k] = core.NewTensor(first.DType(), withRows(first.Shape()[1:], n))
		at := 0
		for _, e := range list {
			rows.Copy(out[k], e[k], at, 0, e[k].Len())
			at += e[k].Len()
		}
	}
	return out, nil
}

// height returns how many rows all components of e have.
func height(e Element) (int, error) {
	for i, t := range e {
		if t.Rank() == 0 {
			return 0, core.Errorf(core.InvalidArgument, "Input element must have a non-scalar value in each component.")
		}
		if t.Dim(0) != e[0].Dim(0) {
			return 0, core.Errorf(core.InvalidArgument, "Input element must have the same batch size in each component. Component 0 had size %d but component %d had size, %d.", e[0].Dim(0), i, t.Dim(0))
		}
	}
	if len(e) == 0 {
		return 0, core.Errorf(core.InvalidArgument, "Input element must have a component.")
	}
	return e[0].Dim(0), nil
}

// Rebatch returns the rows of the elements of input in batches of the given
// sizes, one after the other and again.
func Rebatch(input Dataset, sizes []int64, drop bool, spec *Spec) (Dataset, error) {
	for _, n := range sizes {
		if n < 0 {
			return nil, core.Errorf(core.InvalidArgument, "batch_sizes must be non-negative, got %d", n)
		}
	}
	if len(sizes) == 0 || slices.Max(sizes) == 0 {
		return nil, core.Errorf(core.InvalidArgument, "batch_sizes must have a number greater than zero.")
	}
	next := func(i int64, _ int) int64 { return sizes[i%int64(len(sizes))] }
	return &rebatched{derived{common{spec}, input}, next, drop}, nil
}

type rebatched struct {
	derived
	// size returns how many rows the batch has that is number i, and begins in
	// one of the input of so many rows.
	size func(i int64, rows int) int64
	drop bool
}

func (d *rebatched) Cardinality() int64 {
	if n := d.input.Cardinality(); n <= 0 {
		return n
	}
	return Unknown
}

func (d *rebatched) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &rebatchIterator{over: o, d: d} })
}

type rebatchIterator struct {
	over
	d     *rebatched
	batch Element // of the input; nil: the next one's turn
	at    int     // its first row that has not been given
	empty Element // a batch without rows; nil: none has come to make one of
	given int64

	parts []Element // of the batch that is being made, which a cancelled call leaves
	lacks int64     // how many rows it lacks
}

func (it *rebatchIterator) Next(ctx context.Context) (Element, error) {
	if len(it.parts) == 0 {
		if it.empty != nil && it.d.size(it.given, 0) == 0 {
			it.given++
			return it.empty, nil // also when the input has ended
		}
		if err := it.fill(ctx); err != nil {
			return nil, err
		}
		it.lacks = it.d.size(it.given, it.batch[0].Dim(0))
		it.given++
		it.take()
	}
	if err := it.complete(ctx); err != nil {
		return nil, err
	}
	parts := it.parts
	it.parts = nil
	if it.d.drop && it.lacks > 0 {
		return nil, End
	}
	return cat(parts)
}

// complete takes rows until there are enough, or no more.
func (it *rebatchIterator) complete(ctx context.Context) error {
	for it.lacks > 0 {
		err := it.fill(ctx)
		if errors.Is(err, End) {
			return nil
		}
		if err != nil {
			if ctx.Err() == nil {
				it.parts = nil // the error is that of the batch
			}
			return err
		}
		it.take()
	}
	return nil
}

// take takes from the batch of the input what is lacking, or all that it has.
func (it *rebatchIterator) take() {
	n := min(it.batch[0].Dim(0)-it.at, int(min(it.lacks, math.MaxInt)))
	it.parts = append(it.parts, span(it.batch, it.at, it.at+n))
	it.lacks -= int64(n)
	if it.at += n; it.at == it.batch[0].Dim(0) {
		it.batch, it.at = nil, 0
	}
}

// fill sees to it that there is a batch with rows that have not been given.
func (it *rebatchIterator) fill(ctx context.Context) error {
	for it.batch == nil {
		e, err := it.input.Next(ctx)
		if err != nil {
			return err
		}
		n, err := height(e)
		if err != nil {
			return err
		}
		if n > 0 {
			it.batch, it.at, it.empty = e, 0, span(e, 0, 0)
		}
	}
	return nil
}

func (it *rebatchIterator) Save(s *State) {
	it.over.Save(s)
	s.PutElement("batch", it.batch)
	s.PutElement("empty", it.empty)
	s.PutInt("at", int64(it.at))
	s.PutInt("given", it.given)
	if s.putTaken(it.parts); len(it.parts) > 0 {
		s.PutInt("lacks", it.lacks)
	}
}

func (it *rebatchIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.given, it.at, it.batch, it.empty = s.Count("given", 1<<62), 0, nil, nil
	if e := s.Element("empty"); len(e) > 0 {
		it.empty = e
	}
	if e := s.Element("batch"); len(e) > 0 {
		n, err := height(e)
		if err != nil {
			s.Fail(err)
			return
		}
		it.batch, it.at = e, int(s.Count("at", int64(n-1)))
	}
	if it.parts = s.taken(it.d.input.Spec()); len(it.parts) > 0 {
		it.lacks = s.Count("lacks", math.MaxInt64)
	}
	for _, e := range it.parts {
		if _, err := height(e); err != nil {
			s.Fail(err)
		}
	}
}

// Slide returns batches of size elements of input that are stride elements
// apart; the next one begins shift elements later.
func Slide(input Dataset, size, shift, stride int64, drop bool) (Dataset, error) {
	windows, err := Window(input, size, shift, stride, drop)
	if err != nil {
		return nil, err
	}
	in := input.Spec()
	spec := &Spec{Types: in.Types}
	for _, s := range in.Shapes {
		spec.Shapes = append(spec.Shapes, withRows(s, -1))
	}
	stacked := func(_ context.Context, w []*core.Tensor) ([]*core.Tensor, error) {
		out := make([]*core.Tensor, len(w))
		for k, t := range w {
			e, err := stack(t.Variants()[0].Value.(*list).elements)
			if err != nil {
				return nil, err
			}
			out[k] = e[0]
		}
		return out, nil
	}
	return Map(windows, stacked, spec, true), nil
}
