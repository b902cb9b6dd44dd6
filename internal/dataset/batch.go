package dataset

import (
	"context"
	"errors"
	"math"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf/core"
)

// Batch makes the rows of one element of each n elements of input; the last
// one has fewer, or is dropped.
func Batch(input Dataset, n int64, dropRemainder bool) (Dataset, error) {
	if n <= 0 {
		return nil, refused("Batch size must be greater than zero.", n)
	}
	return newBatched(input, n, dropRemainder, input.Spec().Shapes, stack), nil
}

// newBatched returns a dataset whose elements join makes of n elements of input.
func newBatched(input Dataset, n int64, drop bool, shapes []core.Shape, join func([]Element) (Element, error)) Dataset {
	in := input.Spec()
	spec := &Spec{Types: in.Types}
	size := -1
	if card := input.Cardinality(); drop || card == Infinite || card >= 0 && card%n == 0 {
		size = int(n)
	}
	for _, s := range shapes {
		spec.Shapes = append(spec.Shapes, withRows(s, size))
	}
	return &batched{derived{common{spec}, input}, n, drop, join}
}

// withRows puts a dimension before s.
func withRows(s core.Shape, n int) core.Shape {
	if s == nil {
		return nil
	}
	return append(core.Shape{n}, s...)
}

type batched struct {
	derived
	n    int64
	drop bool
	join func([]Element) (Element, error)
}

func (d *batched) Cardinality() int64 {
	n := d.input.Cardinality()
	if n < 0 {
		return n
	}
	if n%d.n != 0 && !d.drop {
		return n/d.n + 1
	}
	return n / d.n
}

func (d *batched) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &batchIterator{over: o, d: d} })
}

type batchIterator struct {
	over
	d    *batched
	have []Element // of the next batch, if a call was cancelled before there were all
}

func (it *batchIterator) Next(ctx context.Context) (Element, error) {
	for int64(len(it.have)) < it.d.n {
		e, err := it.input.Next(ctx)
		if errors.Is(err, End) {
			break
		}
		if err != nil {
			if ctx.Err() == nil {
				it.have = nil // the error is that of the batch, as in TensorFlow
			}
			return nil, err
		}
		it.have = append(it.have, e)
	}
	have := it.have
	it.have = nil
	if len(have) == 0 || it.d.drop && int64(len(have)) < it.d.n {
		return nil, End
	}
	return it.d.join(have)
}

func (it *batchIterator) Save(s *State) {
	it.over.Save(s)
	s.putTaken(it.have)
}

func (it *batchIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	if it.have = s.taken(it.d.spec); int64(len(it.have)) >= it.d.n {
		s.Fail(errTooMany)
		it.have = nil
	}
}

// stack makes one element of many whose components have equal shapes.
func stack(list []Element) (Element, error) {
	first := list[0]
	out := make(Element, len(first))
	for k, t := range first {
		for i, e := range list {
			if !e[k].Shape().Equal(t.Shape()) {
				return nil, core.Errorf(core.InvalidArgument, "Cannot batch tensors with different shapes in component %d. First element had shape %s and element %d had shape %s.",
					k, t.Shape().String(), i, e[k].Shape().String())
			}
		}
		shape := withRows(t.Shape(), len(list))
		if err := core.CheckSize(t.DType(), shape); err != nil {
			return nil, err
		}
		out[k] = core.NewTensor(t.DType(), shape)
		for i, e := range list {
			rows.Copy(out[k], e[k], i*t.Len(), 0, t.Len())
		}
	}
	return out, nil
}

// PaddedBatch is Batch for elements of different sizes: they are padded to
// shapes, or, where those are open, to the largest of the batch. There is one
// scalar of padding for each component.
func PaddedBatch(input Dataset, n int64, shapes []core.Shape, padding []*core.Tensor, dropRemainder bool) (Dataset, error) {
	spec := input.Spec()
	switch {
	case n <= 0:
		return nil, refused("Batch size must be greater than zero.", n)
	case len(shapes) != len(spec.Types):
		return nil, core.Errorf(core.InvalidArgument, "Number of padded shapes (%d) must match the number of components in the input dataset's elements (%d)", len(shapes), len(spec.Types))
	case len(padding) != len(spec.Types):
		return nil, core.Errorf(core.InvalidArgument, "Number of padding values (%d) must match the number of components in the input dataset's elements (%d)", len(padding), len(spec.Types))
	}
	for i, p := range padding {
		if p.Rank() != 0 {
			return nil, core.Errorf(core.InvalidArgument, "All padding values must be scalars")
		}
		if p.DType() != spec.Types[i] {
			return nil, core.Errorf(core.InvalidArgument, "Mismatched type between padding value %d and input dataset's component %d: %s vs. %s", i, i, p.DType().CName(), spec.Types[i].CName())
		}
	}
	return newBatched(input, n, dropRemainder, shapes, func(list []Element) (Element, error) {
		out := make(Element, len(shapes))
		for k := range shapes {
			t, err := padTogether(list, k, shapes[k], padding[k])
			if err != nil {
				return nil, err
			}
			out[k] = t
		}
		return out, nil
	}), nil
}

// padTogether makes a batch of component k of the elements.
func padTogether(list []Element, k int, shape core.Shape, padding *core.Tensor) (*core.Tensor, error) {
	if shape == nil {
		shape = make(core.Shape, list[0][k].Rank())
		for i := range shape {
			shape[i] = -1
		}
	}
	full := shape.Clone()
	for _, e := range list {
		s := e[k].Shape()
		if len(s) != len(shape) {
			return nil, core.Errorf(core.InvalidArgument, "All elements in a batch must have the same rank as the padded shape for component%d: expected rank %d but got element with rank %d", k, len(shape), len(s))
		}
		for i, n := range s {
			if shape[i] >= 0 && n > shape[i] {
				return nil, core.Errorf(core.DataLoss, "Attempted to pad to a smaller size than the input element. Component %d has shape %s, the padded shape is %s.", k, s.String(), shape.String())
			}
			full[i] = max(full[i], n)
		}
	}
	batch := withRows(full, len(list))
	if err := core.CheckSize(padding.DType(), batch); err != nil {
		return nil, err
	}
	t := core.NewTensor(padding.DType(), batch)
	rows.Fill(t, padding, 0, 0, t.Len())
	for i, e := range list {
		place(t, e[k], full, i*full.NumElements())
	}
	return t, nil
}

// place copies src to where it belongs in a block of shape full that begins at
// element at of dst.
func place(dst, src *core.Tensor, full core.Shape, at int) {
	if src.Len() == 0 {
		return
	}
	move, s := rows.Mover(dst, src), src.Shape()
	if len(s) == 0 {
		move(at, 0, 1)
		return
	}
	run := s[len(s)-1]
	for from := 0; from < src.Len(); from += run {
		to, stride, rest := 0, full[len(full)-1], from/run
		for k := len(s) - 2; k >= 0; k-- {
			to += rest % s[k] * stride
			rest /= s[k]
			stride *= full[k]
		}
		move(at+to, from, run)
	}
}

// Unbatch returns the rows of each element of input as elements.
func Unbatch(input Dataset) Dataset {
	in := input.Spec()
	spec := &Spec{Types: in.Types}
	for _, s := range in.Shapes {
		if len(s) > 0 {
			s = s[1:]
		}
		spec.Shapes = append(spec.Shapes, s)
	}
	return &unbatched{derived{common{spec}, input}}
}

type unbatched struct{ derived }

func (d *unbatched) Cardinality() int64 {
	n := d.input.Cardinality()
	if n <= 0 {
		return n
	}
	rows := int64(d.rows())
	switch {
	case rows < 0:
		return Unknown
	case rows > 0 && n > math.MaxInt64/rows:
		return Infinite
	}
	return n * rows
}

// rows returns how many rows each batch has, as some component tells; -1 if none does.
func (d *unbatched) rows() int {
	for _, s := range d.input.Spec().Shapes {
		if len(s) > 0 && s[0] >= 0 {
			return s[0]
		}
	}
	return -1
}

func (d *unbatched) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &unbatchIterator{over: o} })
}

type unbatchIterator struct {
	over
	batch Element
	next  int
}

func (it *unbatchIterator) Next(ctx context.Context) (Element, error) {
	for len(it.batch) == 0 || it.next >= it.batch[0].Dim(0) {
		batch, err := it.input.Next(ctx)
		if err != nil {
			return nil, err
		}
		for i, t := range batch {
			if t.Rank() == 0 {
				return nil, core.Errorf(core.InvalidArgument, "Input element must have a non-scalar value in each component.")
			}
			if t.Dim(0) != batch[0].Dim(0) {
				return nil, core.Errorf(core.InvalidArgument, "Input element must have the same batch size in each component. Component 0 had size %d but component %d had size, %d.", batch[0].Dim(0), i, t.Dim(0))
			}
		}
		it.batch, it.next = batch, 0
	}
	it.next++
	return row(it.batch, it.next-1), nil
}

func (it *unbatchIterator) Save(s *State) {
	it.over.Save(s)
	s.PutElement("batch", it.batch)
	s.PutInt("next", int64(it.next))
}

func (it *unbatchIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.batch = s.Element("batch")
	most := int64(0)
	if len(it.batch) > 0 && it.batch[0].Rank() > 0 {
		most = int64(it.batch[0].Dim(0))
	}
	it.next = int(s.Count("next", most))
}
