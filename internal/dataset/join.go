package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Zip returns elements that have the components of one element of each input,
// as long as all have one.
func Zip(inputs []Dataset) Dataset {
	spec := &Spec{}
	for _, d := range inputs {
		spec.Types = append(spec.Types, d.Spec().Types...)
		spec.Shapes = append(spec.Shapes, d.Spec().Shapes...)
	}
	return &zipped{common{spec}, inputs}
}

type zipped struct {
	common
	inputs []Dataset
}

func (d *zipped) Cardinality() int64 {
	out := Infinite
	for _, in := range d.inputs {
		switch n := in.Cardinality(); {
		case n == Unknown:
			return Unknown
		case n != Infinite && (out == Infinite || n < out):
			out = n
		}
	}
	return out
}

func (d *zipped) Iterate() (Iterator, error) {
	all, err := iterateAll(d.inputs)
	if err != nil {
		return nil, err
	}
	return &zipIterator{all: all, of: d.inputs}, nil
}

// iterateAll returns iterators over all inputs.
func iterateAll(inputs []Dataset) (several, error) {
	var all several
	for _, in := range inputs {
		it, err := in.Iterate()
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, it)
	}
	return all, nil
}

// several are iterators that are saved, restored and closed together.
type several []Iterator

func (all several) Close() {
	for _, it := range all {
		it.Close()
	}
}

func (all several) Save(s *State) {
	for i, it := range all {
		it.Save(s.Nth("input", i))
	}
}

func (all several) Restore(ctx context.Context, s *State) {
	for i, it := range all {
		it.Restore(ctx, s.Nth("input", i))
	}
}

type zipIterator struct {
	all   several
	of    []Dataset // what all are of
	have  []result  // of the first inputs, if a call was cancelled before it had asked all
	ended bool
}

func (it *zipIterator) Next(ctx context.Context) (Element, error) {
	if it.ended {
		return nil, End
	}
	for len(it.have) < len(it.all) { // all go on, also when one has failed or ended: caches are complete then
		e, err := it.all[len(it.have)].Next(ctx)
		if interrupted(ctx, err) {
			return nil, err
		}
		it.have = append(it.have, result{e, err})
	}
	have := it.have
	it.have = nil
	if it.ended = slices.ContainsFunc(have, result.isEnd); it.ended {
		return nil, End
	}
	var out Element
	for _, r := range have {
		if r.err != nil {
			return nil, r.err
		}
		out = append(out, r.e...)
	}
	return out, nil
}

func (it *zipIterator) Close() { it.all.Close() }

func (it *zipIterator) Save(s *State) {
	it.all.Save(s)
	s.PutBool("ended", it.ended || slices.ContainsFunc(it.have, result.isEnd))
	if len(it.have) > 0 { // states of earlier versions never have it
		s.putResults("have", it.have)
	}
}

func (it *zipIterator) Restore(ctx context.Context, s *State) {
	it.all.Restore(ctx, s)
	it.ended, it.have = s.Bool("ended"), nil
	if s.Has("have") {
		it.have = s.results("have")
	}
	if len(it.have) > len(it.all) {
		s.Fail(errTooMany)
		it.have = nil
	}
	for i, r := range it.have {
		if err := it.of[i].Spec().Check(r.e); r.err == nil && err != nil {
			s.Fail(otherDataset("%v", err))
		}
	}
}

// Concatenate returns the elements of a and then those of b, which must have
// the same types.
func Concatenate(a, b Dataset) (Dataset, error) {
	sa, sb := a.Spec(), b.Spec()
	if !slices.Equal(sa.Types, sb.Types) {
		return nil, core.Errorf(core.InvalidArgument, "input dataset and dataset to concatenate have different output_types %s and %s", typeNames(sa.Types), typeNames(sb.Types))
	}
	spec := &Spec{Types: sa.Types}
	for i, s := range sa.Shapes {
		spec.Shapes = append(spec.Shapes, commonShape(s, sb.Shapes[i]))
	}
	return &concatenated{common{spec}, []Dataset{a, b}}, nil
}

func typeNames(types []core.DType) string {
	s := ""
	for i, d := range types {
		if i > 0 {
			s += ", "
		}
		s += d.CName()
	}
	return "(" + s + ")"
}

// commonShape returns what is true of both shapes.
func commonShape(s, t core.Shape) core.Shape {
	if s == nil || t == nil || len(s) != len(t) {
		return nil
	}
	out := s.Clone()
	for i := range out {
		if out[i] != t[i] {
			out[i] = -1
		}
	}
	return out
}

type concatenated struct {
	common
	inputs []Dataset
}

func (d *concatenated) Cardinality() int64 {
	a, b := d.inputs[0].Cardinality(), d.inputs[1].Cardinality()
	switch {
	case a == Infinite || b == Infinite:
		return Infinite
	case a < 0 || b < 0:
		return Unknown
	}
	return a + b
}

func (d *concatenated) Iterate() (Iterator, error) {
	all, err := iterateAll(d.inputs)
	if err != nil {
		return nil, err
	}
	return &concatenateIterator{all: all}, nil
}

type concatenateIterator struct {
	all several
	at  int
}

func (it *concatenateIterator) Next(ctx context.Context) (Element, error) {
	for ; it.at < len(it.all); it.at++ {
		e, err := it.all[it.at].Next(ctx)
		if !errors.Is(err, End) {
			return e, err
		}
	}
	return nil, End
}

func (it *concatenateIterator) Close() { it.all.Close() }

func (it *concatenateIterator) Save(s *State) {
	it.all.Save(s)
	s.PutInt("at", int64(it.at))
}

func (it *concatenateIterator) Restore(ctx context.Context, s *State) {
	it.all.Restore(ctx, s)
	it.at = int(s.Count("at", int64(len(it.all))))
}
