package dataset

import (
	"context"
	"math"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf/core"
)

// Range returns the numbers from start to stop, in elements of one scalar of an
// integer or float type.
func Range(start, stop, step int64, d core.DType) (Dataset, error) {
	if step == 0 {
		return nil, core.Errorf(core.InvalidArgument, "step must be a non-zero integer.")
	}
	n := int64(0)
	if step > 0 && start < stop {
		n = stepsOver(uint64(stop-start), uint64(step))
	} else if step < 0 && start > stop {
		n = stepsOver(uint64(start-stop), uint64(-step))
	}
	convert, err := integer(d)
	if err != nil {
		return nil, err
	}
	spec := &Spec{[]core.DType{d}, []core.Shape{{}}}
	numbers := indexed{common{spec}, n, func(i int64) (Element, error) { return Element{convert(start + i*step)}, nil }}
	if n > 0 && stop == math.MaxInt64 {
		return &endless{numbers}, nil
	}
	return &numbers, nil
}

// endless has so many elements that they stand for an infinite number, as those of the
// ranges do that number other elements.
type endless struct{ indexed }

func (d *endless) Cardinality() int64 { return Infinite }

// stepsOver returns how many steps cover a span, as many as can be counted at most.
func stepsOver(span, step uint64) int64 { return int64(min((span-1)/step, math.MaxInt64-1)) + 1 }

// integer returns what makes scalars of a type.
func integer(d core.DType) (func(int64) *core.Tensor, error) {
	switch d {
	case core.Int64:
		return func(v int64) *core.Tensor { return core.Scalar(v) }, nil
	case core.Int32:
		return func(v int64) *core.Tensor { return core.Scalar(int32(v)) }, nil
	case core.Int16:
		return func(v int64) *core.Tensor { return core.Scalar(int16(v)) }, nil
	case core.Int8:
		return func(v int64) *core.Tensor { return core.Scalar(int8(v)) }, nil
	case core.Uint64:
		return func(v int64) *core.Tensor { return core.Scalar(uint64(v)) }, nil
	case core.Uint32:
		return func(v int64) *core.Tensor { return core.Scalar(uint32(v)) }, nil
	case core.Uint16:
		return func(v int64) *core.Tensor { return core.Scalar(uint16(v)) }, nil
	case core.Uint8:
		return func(v int64) *core.Tensor { return core.Scalar(uint8(v)) }, nil
	}
	if _, err := core.ScalarOf(d, 0); err != nil {
		return nil, core.Errorf(core.InvalidArgument, "Unsupported data type: %s", d.CName())
	}
	return func(v int64) *core.Tensor {
		t, _ := core.ScalarOf(d, float64(v))
		return t
	}, nil
}

// Tensors returns the one element e.
func Tensors(e Element) Dataset {
	return Indexed(specOf(e), 1, func(int64) (Element, error) { return e, nil })
}

func specOf(e Element) *Spec {
	s := &Spec{}
	for _, t := range e {
		s.Types, s.Shapes = append(s.Types, t.DType()), append(s.Shapes, t.Shape())
	}
	return s
}

// Slices returns the rows of e.
func Slices(e Element) (Dataset, error) {
	spec := &Spec{}
	for i, t := range e {
		switch {
		case t.Rank() == 0:
			return nil, core.Errorf(core.InvalidArgument, "All components must be at least 1-dimensional")
		case t.Dim(0) != e[0].Dim(0):
			return nil, core.Errorf(core.InvalidArgument, "All components must have the same size in the 0th dimension: component 0 has %d, component %d has %d", e[0].Dim(0), i, t.Dim(0))
		}
		spec.Types, spec.Shapes = append(spec.Types, t.DType()), append(spec.Shapes, t.Shape()[1:])
	}
	n := 0
	if len(e) > 0 {
		n = e[0].Dim(0)
	}
	return Indexed(spec, int64(n), func(i int64) (Element, error) { return views(e, int(i)), nil }), nil
}

// views returns row i of each component, in place where it can: whoever made the dataset
// gave e to it, which nothing writes to. Each view has a reference, so that the memory has
// no sole owner.
func views(e Element, i int) Element {
	out := make(Element, len(e))
	for k, t := range e {
		b := t.Buffer()
		if b == nil {
			out[k] = row(e[k:k+1], i)[0]
			continue
		}
		size := b.Len() / t.Dim(0)
		out[k] = core.TensorOf(t.DType(), t.Shape()[1:], b.Sub(i*size, size))
	}
	return out
}

// row returns copies of row i of each component.
func row(e Element, i int) Element {
	out := make(Element, len(e))
	for k, t := range e {
		out[k] = core.NewTensor(t.DType(), t.Shape()[1:])
		n := out[k].Len()
		rows.Copy(out[k], t, 0, i*n, n)
	}
	return out
}

// Indexed returns the n elements that at gives for their numbers.
func Indexed(spec *Spec, n int64, at func(i int64) (Element, error)) Dataset {
	return &indexed{common{spec}, n, at}
}

type indexed struct {
	common
	n   int64
	get func(i int64) (Element, error)
}

func (d *indexed) Cardinality() int64 { return d.n }

func (d *indexed) Iterate() (Iterator, error) { return &indexedIterator{d: d}, nil }

type indexedIterator struct {
	d    *indexed
	next int64
}

func (it *indexedIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	if it.next >= it.d.n {
		return nil, End
	}
	it.next++
	return it.d.get(it.next - 1)
}

func (it *indexedIterator) Save(s *State) { s.PutInt("next", it.next) }

func (it *indexedIterator) Restore(_ context.Context, s *State) {
	it.next = s.Count("next", it.d.n)
}

func (it *indexedIterator) Close() {}
