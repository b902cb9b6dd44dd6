package dataset

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
)

// IndexFlatMap returns the rows of the elements that f makes of those of input,
// one after the other; if f makes several components, these are the rows. index
// tells for the number of a row which element of input it comes from, and which
// of its rows it is: so any of the n rows can be had. n may be Infinite or
// Unknown.
func IndexFlatMap(input Dataset, f, index Func, n int64, spec *Spec) Dataset {
	return &indexFlat{derived{common{spec}, input}, f, index, n}
}

type indexFlat struct {
	derived
	f, index Func
	n        int64
}

func (d *indexFlat) Cardinality() int64 { return d.n }

func (d *indexFlat) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &indexFlatIterator{taking: taking{over: o}, d: d} })
}

// at makes row i alone.
func (d *indexFlat) at(ctx context.Context, i int64) (Element, error) {
	from, offset, err := d.place(ctx, i)
	if err != nil {
		return nil, err
	}
	e, err := At(ctx, d.input, from)
	if err != nil {
		return nil, err
	}
	rows, err := d.f(ctx, e)
	if err != nil {
		return nil, err
	}
	return d.row(rows, offset)
}

// place returns where row i comes from.
func (d *indexFlat) place(ctx context.Context, i int64) (from, offset int64, err error) {
	out, err := d.index(ctx, []*core.Tensor{core.Scalar(i)})
	if err != nil {
		return 0, 0, err
	}
	if len(out) != 2 {
		return 0, 0, core.Errorf(core.InvalidArgument, "The `index_map_fn` for `index_flat_map` is expected to return two int values representing the element index and an offset within the element. Got: %v", out)
	}
	var at [2]int64
	for k, t := range out {
		v, err := t.Ints()
		if err != nil || len(v) != 1 {
			return 0, 0, core.Errorf(core.InvalidArgument, "The `index_map_func` for `index_flat_map` is expected to return two int32/int64 values representing the element index and an offset within the element. Got: %v", t)
		}
		at[k] = int64(v[0])
	}
	return at[0], at[1], nil
}

// row returns a row of what f has made.
func (d *indexFlat) row(e Element, offset int64) (Element, error) {
	if len(e) > 1 {
		if offset < 0 || offset >= int64(len(e)) {
			return nil, outsideRows(offset, int64(len(e)), e)
		}
		e = e[offset : offset+1]
		return e, d.spec.Check(e)
	}
	out := make(Element, len(e))
	for k, t := range e {
		switch {
		case t.Rank() == 0:
			out[k] = t
		case offset < 0 || offset >= int64(t.Dim(0)):
			return nil, outsideRows(offset, int64(t.Dim(0)), e)
		default:
			out[k] = row(Element{t}, int(offset))[0]
		}
	}
	return out, d.spec.Check(out)
}

func outsideRows(offset, n int64, e Element) error {
	return core.Errorf(core.InvalidArgument, "`index_flat_map` got invalid `index_map_func` which returns offset %d, but the input element has %d elements: %v", offset, n, e)
}

type indexFlatIterator struct {
	taking
	d     *indexFlat
	given int64
	at    int64   // the element of the input that rows are of
	rows  Element // nil: none has been taken
}

func (it *indexFlatIterator) Next(ctx context.Context) (Element, error) {
	from, offset, err := it.d.place(ctx, it.given)
	if err != nil {
		return nil, err
	}
	if from > it.at || it.rows == nil {
		e, err := it.take(ctx)
		if err != nil {
			return nil, err
		}
		rows, err := it.d.f(ctx, e)
		if it.used(ctx, e, err); err != nil {
			return nil, err
		}
		it.rows, it.at = rows, from
	}
	e, err := it.d.row(it.rows, offset)
	if err == nil {
		it.given++
	}
	return e, err
}

func (it *indexFlatIterator) Save(s *State) {
	it.taking.Save(s)
	s.PutInt("given", it.given)
	s.PutInt("at", it.at)
	s.PutElement("rows", it.rows)
}

func (it *indexFlatIterator) Restore(ctx context.Context, s *State) {
	it.restore(ctx, s, it.d.input.Spec())
	it.given, it.at, it.rows = s.Count("given", 1<<62), s.Int("at"), nil
	if e := s.Element("rows"); len(e) > 0 {
		it.rows = e
	}
}
