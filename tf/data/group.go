package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Window hands reduce datasets of size elements, one for each component, which
// are stride elements apart; the next window begins shift elements later. It
// returns the elements, of the given types, of the datasets that reduce makes.
func (d *Dataset) Window(size, shift, stride int64, dropRemainder bool, reduce func(window []*Dataset) *Dataset, types []tf.DType) *Dataset {
	if reduce == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		windows, err := dataset.Window(in, size, shift, stride, dropRemainder)
		if err != nil {
			return nil, err
		}
		return dataset.FlatMap(windows, made(func(in []*core.Tensor) *Dataset { return reduce(datasets(in)) }), specOf(types, nil)), nil
	})
}

// datasets returns the datasets that tensors hold.
func datasets(in []*core.Tensor) []*Dataset {
	out := make([]*Dataset, len(in))
	for i, t := range in {
		out[i] = opened(dataset.Of(t))
	}
	return out
}

// GroupByWindow puts elements together that have the same key. When there are
// size of them, or in the end, reduce makes a dataset of the key and a dataset of
// them, whose elements, of the given types, are returned.
func (d *Dataset) GroupByWindow(key func(in []*tf.Tensor) (int64, error), size int64, reduce func(key int64, group *Dataset) *Dataset, types []tf.DType) *Dataset {
	if key == nil || reduce == nil {
		return noFunction()
	}
	sizeOf := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(size)}, nil
	}
	return d.sure(func(in dataset.Dataset) dataset.Dataset {
		return dataset.GroupByWindow(in, keyed(key), grouping(reduce), sizeOf, specOf(types, nil))
	})
}

// keyed makes a program's function of elements one that gives keys to the engine.
func keyed(key func(in []*tf.Tensor) (int64, error)) dataset.Func {
	return called(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		k, err := key(leave(in))
		return []*core.Tensor{core.Scalar(k)}, err
	})
}

// grouping makes a program's function of a key and its elements one of the engine's.
func grouping(reduce func(key int64, group *Dataset) *Dataset) dataset.Func {
	return made(func(in []*core.Tensor) *Dataset { return reduce(core.Data[int64](in[0])[0], datasets(in[1:])[0]) })
}
