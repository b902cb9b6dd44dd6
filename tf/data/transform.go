package data

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func specOf(types []tf.DType, shapes []tf.Shape) *dataset.Spec {
	if shapes == nil {
		shapes = make([]tf.Shape, len(types))
	}
	return &dataset.Spec{Types: types, Shapes: shapes}
}

// declared is specOf for what a program says of elements.
func declared(types []tf.DType, shapes []tf.Shape) (*dataset.Spec, error) {
	if shapes != nil && len(shapes) != len(types) {
		return nil, tf.Errorf(tf.InvalidArgument, "there must be a shape for each type, or nil for all, got %d types and %d shapes", len(types), len(shapes))
	}
	return specOf(types, shapes), nil
}

// shaped is a program's function that is held to the declared shapes of what it returns
// after the first n components: datasets that are made of it rely on them.
func shaped(f dataset.Func, n int, spec *dataset.Spec) dataset.Func {
	return func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		out, err := f(ctx, in)
		if err != nil || len(out) != n+len(spec.Shapes) {
			return out, err
		}
		for i, want := range spec.Shapes {
			if got := out[n+i].Shape(); !want.Compatible(got) {
				return nil, tf.Errorf(tf.InvalidArgument, "an element must have the shapes that are declared: component %d has %v, declared is %v", i, got, want)
			}
		}
		return out, nil
	}
}

// Map returns what f makes of each element: components of the given types, and
// of shapes, if they are not nil. An element of other ones is an error.
func (d *Dataset) Map(f Func, types []tf.DType, shapes []tf.Shape) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		spec, err := declared(types, shapes)
		if err != nil {
			return nil, err
		}
		return dataset.Map(in, called(shaped(inside(f), 0, spec)), spec, true), nil
	})
}

// ParallelMap is Map with up to calls calls of f at once, as many as there are
// cores if calls is negative. Unless inOrder is set, elements come in the order in
// which they are finished. Up to calls elements are computed in advance, from the
// first Next on.
func (d *Dataset) ParallelMap(f Func, types []tf.DType, shapes []tf.Shape, calls int, inOrder bool) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if calls == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "num_parallel_calls must be greater than zero. Got 0.")
		}
		spec, err := declared(types, shapes)
		if err != nil {
			return nil, err
		}
		return dataset.ParallelMap(in, called(shaped(inside(f), 0, spec)), spec, true, int64(calls), inOrder), nil
	})
}

// Filter returns the elements for which keep returns true.
func (d *Dataset) Filter(keep func(ctx context.Context, in []*tf.Tensor) (bool, error)) *Dataset {
	if keep == nil {
		return noFunction()
	}
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.Filter(in, judge(keep)) })
}

func judge(keep func(ctx context.Context, in []*tf.Tensor) (bool, error)) dataset.Func {
	return called(func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		yes, err := keep(ctx, leave(in))
		return []*core.Tensor{core.Scalar(yes)}, err
	})
}

// made makes a function that returns a dataset one of tensors.
func made(f func(in []*core.Tensor) *Dataset) dataset.Func {
	return called(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		switch d := f(in); {
		case d == nil:
			return nil, tf.Errorf(tf.InvalidArgument, "the function of a dataset must return a dataset, got nil")
		case d.Err() != nil:
			return nil, d.Err()
		default:
			return []*core.Tensor{dataset.Value(d.d)}, nil
		}
	})
}

// owned gives a program's function tensors of its own.
func owned(f func(in []*tf.Tensor) *Dataset) func(in []*core.Tensor) *Dataset {
	return func(in []*core.Tensor) *Dataset { return f(leave(in)) }
}

// FlatMap returns, one after the other, the elements of the datasets that f
// makes of d's elements; they have the given types.
func (d *Dataset) FlatMap(f func(in []*tf.Tensor) *Dataset, types []tf.DType) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.sure(func(in dataset.Dataset) dataset.Dataset {
		return dataset.FlatMap(in, made(owned(f)), specOf(types, nil))
	})
}

// Interleave goes around among cycle of the datasets that f makes of d's
// elements, and takes block elements of each.
func (d *Dataset) Interleave(f func(in []*tf.Tensor) *Dataset, types []tf.DType, cycle, block int) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Interleave(in, made(owned(f)), specOf(types, nil), int64(cycle), int64(block), 0)
	})
}

// ParallelInterleave is Interleave with up to ahead elements of each of the
// datasets computed in advance, each by a goroutine of its own. The order is
// that of Interleave.
func (d *Dataset) ParallelInterleave(f func(in []*tf.Tensor) *Dataset, types []tf.DType, cycle, block, ahead int) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if ahead <= 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "the number of elements in advance must be greater than zero, got %d", ahead)
		}
		return dataset.Interleave(in, made(owned(f)), specOf(types, nil), int64(cycle), int64(block), int64(ahead))
	})
}

// ParallelFilter is Filter with up to calls calls of keep at once.
func (d *Dataset) ParallelFilter(keep func(ctx context.Context, in []*tf.Tensor) (bool, error), calls int) *Dataset {
	if keep == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if calls == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "num_parallel_calls must be greater than zero. Got 0.")
		}
		return dataset.ParallelFilter(in, judge(keep), int64(calls), true)
	})
}

// IgnoreErrors leaves out elements whose computation fails.
func (d *Dataset) IgnoreErrors() *Dataset { return d.sure(dataset.IgnoreErrors) }

// Unique leaves out what is equal to an element before. The elements must be of
// one component of type int32, int64 or string.
func (d *Dataset) Unique() *Dataset { return d.with(dataset.Unique) }

// Rebatch returns the rows of batches in batches of another size.
func (d *Dataset) Rebatch(n int, dropRemainder bool) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		spec := &dataset.Spec{Types: in.Spec().Types, Shapes: make([]tf.Shape, len(in.Spec().Types))}
		return dataset.Rebatch(in, []int64{int64(n)}, dropRemainder, spec)
	})
}

// At returns element i, without those before it, of a dataset that can do that.
func (d *Dataset) At(ctx context.Context, i int64) ([]*tf.Tensor, error) {
	if err := core.NeedContext(ctx, "At"); err != nil {
		return nil, err
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	e, err := dataset.At(ctx, d.d, i)
	return leave(e), err
}

// GlobalShuffle returns all elements of a dataset in random order, TensorFlow's for the
// seeds. Each iterator has another order. It needs a dataset whose elements can be
// taken in any order, see [Dataset.At].
func (d *Dataset) GlobalShuffle(seed, seed2 int64) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.GlobalShuffle(in, dataset.NewSeeds(seed, seed2, true))
	})
}

// Batch makes n elements, of equal shapes, the rows of one.
func (d *Dataset) Batch(n int, dropRemainder bool) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return dataset.Batch(in, int64(n), dropRemainder) })
}

// PaddedBatch is Batch for elements of different sizes: they are padded with
// padding, a scalar for each component, to shapes, or, where those are -1, to
// the largest of the batch. Without shapes those of the elements count, without
// padding it is zeros and empty strings.
func (d *Dataset) PaddedBatch(n int, shapes []tf.Shape, padding []*tf.Tensor, dropRemainder bool) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if shapes == nil {
			shapes = in.Spec().Shapes
		}
		if i := slices.IndexFunc(shapes, func(s tf.Shape) bool { return s == nil }); i >= 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "the rank of what is padded must be known, that of component %d is not: give PaddedBatch its shape", i)
		}
		pad, err := enter(padding)
		if err != nil {
			return nil, err
		}
		if padding == nil {
			pad = zeros(in.Spec().Types)
		}
		return dataset.PaddedBatch(in, int64(n), shapes, pad, dropRemainder)
	})
}

// zeros returns the scalars that stand for no value.
func zeros(types []tf.DType) []*core.Tensor {
	out := make([]*core.Tensor, len(types))
	for i, d := range types {
		out[i] = core.NewTensor(d, core.Shape{})
	}
	return out
}

// Unbatch makes elements of the rows of elements.
func (d *Dataset) Unbatch() *Dataset { return d.sure(dataset.Unbatch) }

// Repeat returns the elements n times, for ever if n is negative.
func (d *Dataset) Repeat(n int64) *Dataset {
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.Repeat(in, n) })
}

// Take returns the first n elements.
func (d *Dataset) Take(n int64) *Dataset {
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.Take(in, n) })
}

// Skip leaves out the first n elements.
func (d *Dataset) Skip(n int64) *Dataset {
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.Skip(in, n) })
}

// Shard returns every of-th element, from element index on.
func (d *Dataset) Shard(of, index int64) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return dataset.Shard(in, of, index) })
}

// Concatenate returns d's elements and then those of o.
func (d *Dataset) Concatenate(o *Dataset) *Dataset {
	if o == nil {
		return result(nil, errNilDataset)
	}
	if o.Err() != nil {
		return o
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return dataset.Concatenate(in, o.d) })
}

// Cache keeps the elements in memory, once an iterator has been through all.
func (d *Dataset) Cache() *Dataset { return d.sure(dataset.Cache) }

// Prefetch computes up to n elements in advance; -1 leaves it to the dataset how many.
// Another negative n is refused with INVALID_ARGUMENT.
func (d *Dataset) Prefetch(n int64) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if n < -1 {
			return nil, tf.Errorf(tf.InvalidArgument, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, got %d", n)
		}
		return dataset.Prefetch(in, n), nil
	})
}

// Shuffle returns the elements in random order: it fills a buffer of n elements and
// takes one of them by chance each time. The order is TensorFlow's for the seeds. Each
// iterator has another order. With both seeds 0 it differs from run to run.
func (d *Dataset) Shuffle(n, seed, seed2 int64) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Shuffle(in, n, 1, dataset.NewSeeds(seed, seed2, true))
	})
}

// ShuffleOnce is Shuffle with one order for all iterators, as reshuffle_each_iteration=False has it in TensorFlow: a
// Repeat behind it returns the same order in every epoch.
func (d *Dataset) ShuffleOnce(n, seed, seed2 int64) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Shuffle(in, n, 1, dataset.NewSeeds(seed, seed2, false))
	})
}
