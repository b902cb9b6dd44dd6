package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// An indexable dataset gives any of its elements.
type indexable interface {
	// at returns element i, which there is.
	at(ctx context.Context, i int64) (Element, error)
}

// At returns element i of d, without those before it.
func At(ctx context.Context, d Dataset, i int64) (Element, error) {
	if s, ok := d.(*staged); ok {
		e, err := At(ctx, s.Dataset, i)
		return e, s.stage.explain(ctx, err)
	}
	if c, ok := d.(*cached); ok {
		return c.through(ctx, i)
	}
	n := d.Cardinality()
	if e, ok := d.(*endless); ok {
		n = e.n
	}
	switch {
	case n == Infinite:
		return nil, core.Errorf(core.FailedPrecondition, "Dataset of type %s has infinite cardinality, which does not support random access.", kindOf(d))
	case n == Unknown:
		return nil, core.Errorf(core.FailedPrecondition, "Dataset of type %s has unknown cardinality, which does not support random access.", kindOf(d))
	case i < 0 || i >= n:
		return nil, core.Errorf(core.OutOfRange, "Index out of range [0, %d):%d", n, i)
	}
	x, ok := d.(indexable)
	if !ok {
		return nil, core.Errorf(core.Unimplemented, "Random access is not implemented for dataset %s.", kindOf(d))
	}
	return x.at(ctx, i)
}

// at is At for a dataset that need not know how many elements it has: someone else
// does.
func at(ctx context.Context, d Dataset, i int64) (Element, error) {
	if s, ok := d.(*staged); ok {
		e, err := at(ctx, s.Dataset, i)
		return e, s.stage.explain(ctx, err)
	}
	if x, ok := d.(indexable); ok && d.Cardinality() == Unknown {
		return x.at(ctx, i)
	}
	return At(ctx, d, i)
}

func (d *indexed) at(_ context.Context, i int64) (Element, error) { return d.get(i) }

func (d *part) at(ctx context.Context, i int64) (Element, error) {
	return At(ctx, d.input, d.skip+i*d.step)
}

func (d *repeated) at(ctx context.Context, i int64) (Element, error) {
	return At(ctx, d.input, i%d.input.Cardinality())
}

func (d *prefetched) at(ctx context.Context, i int64) (Element, error) { return At(ctx, d.input, i) }

func (d *sized) at(ctx context.Context, i int64) (Element, error) {
	e, err := at(ctx, d.input, i)
	if core.CodeOf(err) == core.OutOfRange {
		return nil, core.Errorf(core.FailedPrecondition, "Input dataset was expected to contain %s.", elements(d.n))
	}
	return e, err
}

func (d *mapped) at(ctx context.Context, i int64) (Element, error) {
	e, err := At(ctx, d.input, i)
	if err != nil {
		return nil, err
	}
	return d.apply(ctx, e)
}

func (d *concatenated) at(ctx context.Context, i int64) (Element, error) {
	n := d.inputs[0].Cardinality()
	if i < n {
		return At(ctx, d.inputs[0], i)
	}
	return At(ctx, d.inputs[1], i-n)
}

func (d *zipped) at(ctx context.Context, i int64) (Element, error) {
	var out Element
	for _, in := range d.inputs {
		e, err := At(ctx, in, i)
		if err != nil {
			return nil, err
		}
		out = append(out, e...)
	}
	return out, nil
}

func (d *unbatched) at(ctx context.Context, i int64) (Element, error) {
	n := int64(d.rows())
	e, err := At(ctx, d.input, i/n)
	if err != nil {
		return nil, err
	}
	if have, err := height(e); err != nil || int64(have) <= i%n {
		return nil, errors.Join(err, outside(i))
	}
	return row(e, int(i%n)), nil
}

func (d *batched) at(ctx context.Context, i int64) (Element, error) {
	var list []Element
	for k, end := i*d.n, min((i+1)*d.n, d.input.Cardinality()); k < end; k++ {
		e, err := At(ctx, d.input, k)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return d.join(list)
}

// through returns element i, up to which all are computed and kept. The input
// need not be of those whose elements can be had in any order.
func (d *cached) through(ctx context.Context, i int64) (Element, error) {
	if i < 0 {
		return nil, outside(i)
	}
	if list, ok := d.content(); ok {
		return within(list, i)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i < int64(len(d.some)) {
		return d.some[i], nil
	}
	it, err := d.input.Iterate()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	have, want := len(d.some), max(int(i)+1, 2*len(d.some)) // twice as many each time: the work is no more than that in all
	for n := 0; n < want; n++ {
		e, err := it.Next(ctx)
		if errors.Is(err, End) {
			break
		}
		if err != nil {
			return nil, err
		}
		if n >= have {
			d.some = append(d.some, e)
		}
	}
	return within(d.some, i)
}

func outside(i int64) error { return core.Errorf(core.OutOfRange, "Index out of range:%d", i) }

func within(list []Element, i int64) (Element, error) {
	if i >= int64(len(list)) {
		return nil, outside(i)
	}
	return list[i], nil
}

// at has an order of its own, in which all elements are mixed.
func (d *shuffled) at(ctx context.Context, i int64) (Element, error) {
	return At(ctx, d.input, d.place(i))
}

// place returns where in the input element i of that order is.
func (d *shuffled) place(i int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock() // there may be no memory for an order
	if d.order == nil {
		order := core.Make[int64](int(d.Cardinality()))
		words := wordsFrom(d.seeds.seed, d.seeds.seed2, 0)
		for k := range order {
			order[k] = int64(k)
		}
		for k := range order {
			j := k + words.Index(len(order)-k)
			order[k], order[j] = order[j], order[k]
		}
		d.order = order
	}
	return d.order[i]
}

// accessible reports why elements of d cannot be had in any order, if so.
func accessible(d Dataset) error {
	if r, ok := Bare(d).(*repeated); ok && r.n <= 0 {
		how := "`repeat()`"
		if r.n == 0 {
			how = "`repeat(0)`"
		}
		return core.Errorf(core.FailedPrecondition, "%s does not support random access of tf.data datasets.", how)
	}
	switch d := Bare(d).(type) {
	case *indexed, *endless, *list, *indexFlat:
		return nil
	case *cached:
		return accessible(d.input)
	case *mapped:
		return accessible(d.input)
	case *parallelMapped:
		return accessible(d.input)
	case *prefetched:
		return accessible(d.input)
	case *sized:
		return accessible(d.input)
	case *part:
		return accessible(d.input)
	case *repeated:
		return accessible(d.input)
	case *batched:
		if !d.drop { // whether or not the last batch is full
			return core.Errorf(core.FailedPrecondition, "%s does not support global shuffling with `drop_remainder=False`.", kindOf(d))
		}
		return accessible(d.input)
	case *concatenated:
		return allAccessible(d.inputs)
	case *zipped:
		return allAccessible(d.inputs)
	}
	return core.Errorf(core.FailedPrecondition, "%s does not support random access.", kindOf(d))
}

func allAccessible(inputs []Dataset) error {
	for _, in := range inputs {
		if err := accessible(in); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns the name that TensorFlow has for datasets like d.
func kindOf(d Dataset) string {
	switch d := Bare(d).(type) {
	case *indexed, *list:
		return "TensorSlice"
	case *part:
		switch {
		case d.step > 1:
			return "Shard"
		case d.skip > 0:
			return "Skip"
		}
		return "Take"
	case *repeated:
		if d.n < 0 {
			return "ForeverRepeat"
		}
		return "FiniteRepeat"
	case *shuffled:
		return "Shuffle"
	case *batched:
		return "Batch"
	case *filtered:
		return "Filter"
	case *interleaved:
		return d.name
	}
	return "Dataset"
}
