package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TakeWhile returns the elements before the first for which keep returns false,
// and computes none after it.
func (d *Dataset) TakeWhile(keep func(ctx context.Context, in []*tf.Tensor) (bool, error)) *Dataset {
	if keep == nil {
		return noFunction()
	}
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.TakeWhile(in, judge(keep)) })
}

// Scan returns what f makes of each element and a state, which begins as initial in
// every iterator: f returns the next state, of the same types, and an element of
// the given types and shapes (nil: any). Iterator.Save keeps the state.
func (d *Dataset) Scan(initial []*tf.Tensor, f func(ctx context.Context, state, in []*tf.Tensor) (next, out []*tf.Tensor, err error), types []tf.DType, shapes []tf.Shape) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		state, err := enter(initial)
		if err != nil {
			return nil, err
		}
		spec, err := declared(types, shapes)
		if err != nil {
			return nil, err
		}
		return dataset.Scan(in, state, called(shaped(scanned(f, len(state)), len(state), spec)), spec, true), nil
	})
}

// scanned calls f with a state of n components, which precedes the element in what
// the engine passes and takes.
func scanned(f func(ctx context.Context, state, in []*tf.Tensor) (next, out []*tf.Tensor, err error), n int) dataset.Func {
	return func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		own := leave(in)
		next, out, err := f(ctx, own[:n:n], own[n:])
		if err != nil {
			return nil, err
		}
		if len(next) != n {
			return nil, tf.Errorf(tf.InvalidArgument, "the function of Scan must return a state of %d components, got %d", n, len(next))
		}
		return enter(append(next[:n:n], out...))
	}
}
