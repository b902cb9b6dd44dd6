package dataset

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
)

// Split cuts each batch of input into n parts, of equal size as far as the rows
// go round; the last ones may be empty.
func Split(input Dataset, n int64, spec *Spec) (Dataset, error) {
	if n <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "num_replicas must be greater than zero. Got %d.", n)
	}
	return &split{derived{common{spec}, input}, n}, nil
}

type split struct {
	derived
	n int64
}

func (d *split) Cardinality() int64 {
	n := d.input.Cardinality()
	if n <= 0 {
		return n
	}
	return n * d.n
}

func (d *split) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &splitIterator{over: o, d: d} })
}

type splitIterator struct {
	over
	d     *split
	batch Element
	part  int64 // of the batch, that is next; 0: another batch's turn
}

func (it *splitIterator) Next(ctx context.Context) (Element, error) {
	if it.part == 0 {
		e, err := it.input.Next(ctx)
		if err != nil {
			return nil, err
		}
		for i, t := range e {
			if t.Rank() == 0 {
				return nil, core.Errorf(core.InvalidArgument, "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset is not batched? Component %d is scalar.", i)
			}
		}
		it.batch = e
	}
	out := make(Element, len(it.batch))
	for k, t := range it.batch { // components may have different numbers of rows
		rows := int64(t.Dim(0))
		each := (rows + it.d.n - 1) / it.d.n
		end := min((it.part+1)*each, rows)
		out[k] = span(Element{t}, int(min(it.part*each, end)), int(end))[0]
	}
	it.part = (it.part + 1) % it.d.n
	return out, nil
}

func (it *splitIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("part", it.part)
	s.PutElement("batch", it.batch)
}

func (it *splitIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.part, it.batch = s.Count("part", it.d.n-1), s.Element("batch")
	for _, t := range it.batch {
		if t.Rank() == 0 {
			s.Fail(errState)
			it.part = 0
		}
	}
}
