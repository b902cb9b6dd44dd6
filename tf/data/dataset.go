// Package data makes input pipelines: datasets, which describe sequences of
// elements, from tensors, functions and files, and iterators over them. It is
// tf.data without graph and session; the ops of package tf/ops/data compute
// with the same datasets.
//
//	d := data.Range(0, 1000).Shuffle(100, 1, 2).Batch(32, false).Prefetch(2)
//	for batch, err := range d.All(ctx) {
//		...
//	}
package data

import (
	"context"
	"errors"
	"iter"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Dataset describes a sequence of elements, tuples of tensors. It does not
// change; its methods return others. What is wrong with one is kept in Err and
// in all that are made of it.
type Dataset struct {
	d   dataset.Dataset
	err error
}

// A Func makes tensors of tensors. What it gets is its own, what it returns is
// copied, unless it has been given away (tf.Adopt).
type Func func(ctx context.Context, in []*tf.Tensor) ([]*tf.Tensor, error)

// Cardinalities that are no number.
const (
	Infinite = dataset.Infinite
	Unknown  = dataset.Unknown
)

// result returns what the function that the program called has made: errors, also those
// of elements, name it and the program's line.
func result(d dataset.Dataset, err error) *Dataset {
	var s dataset.Stage
	s.Pos, s.Name = author.Caller()
	if err != nil {
		return &Dataset{nil, s.Explain(err)}
	}
	return &Dataset{s.At(d), nil}
}

// opened is result for a dataset that others hold as a value.
func opened(d dataset.Dataset, err error) *Dataset { return &Dataset{d, err} }

// within returns d as a part of the stage that makes it while it is iterated over: the function that
// the program calls then is another one from time to time, Next or Restore, and states would tell.
func (d *Dataset) within() *Dataset {
	if d.Err() != nil {
		return d
	}
	return opened(dataset.Bare(d.d), nil)
}

// noFunction returns a dataset that was to be made by a function which is nil.
func noFunction() *Dataset {
	return result(nil, tf.Errorf(tf.InvalidArgument, "a function is needed, got nil"))
}

// with makes a dataset of d, a new stage, unless d has failed.
func (d *Dataset) with(f func(in dataset.Dataset) (dataset.Dataset, error)) *Dataset {
	if d.Err() != nil {
		return d
	}
	return result(f(d.d))
}

func (d *Dataset) get() (dataset.Dataset, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	return d.d, nil
}

// sure is with for what cannot fail.
func (d *Dataset) sure(f func(in dataset.Dataset) dataset.Dataset) *Dataset {
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return f(in), nil })
}

// Err returns what is wrong with d, if anything, also if there is no dataset: nil.
func (d *Dataset) Err() error {
	if d == nil {
		return author.Called(errNilDataset)
	}
	return d.err
}

// Types returns the types of the components of elements.
func (d *Dataset) Types() []tf.DType {
	if d.Err() != nil {
		return nil
	}
	return d.d.Spec().Types
}

// Shapes returns what is known of the shapes of the components.
func (d *Dataset) Shapes() []tf.Shape {
	if d.Err() != nil {
		return nil
	}
	return d.d.Spec().Shapes
}

// Cardinality returns the number of elements, [Infinite] or [Unknown].
func (d *Dataset) Cardinality() int64 {
	if d.Err() != nil {
		return Unknown
	}
	return d.d.Cardinality()
}

// All returns the elements, for range loops. After an error, which comes with no
// element, the loop may go on with the next one. The end of ctx is an error, too, and
// the last one.
func (d *Dataset) All(ctx context.Context) iter.Seq2[[]*tf.Tensor, error] {
	return func(yield func([]*tf.Tensor, error) bool) {
		if err := core.NeedContext(ctx, "All"); err != nil {
			yield(nil, err)
			return
		}
		it, err := d.Iterator()
		if err != nil {
			yield(nil, err)
			return
		}
		defer it.Close()
		for {
			e, err := it.Next(ctx)
			if errors.Is(err, End) || !yield(e, err) {
				return
			}
			if err != nil && ctx.Err() != nil {
				return // every further element would fail as this one
			}
		}
	}
}

// called makes a panic of a program's function an error, and an error of it one of
// the dataset's.
func called(f dataset.Func) dataset.Func {
	return func(ctx context.Context, in []*core.Tensor) (out []*core.Tensor, err error) {
		defer func() {
			if v := recover(); v != nil {
				out, err = nil, core.Panicked("the function of a dataset", v)
			}
		}()
		out, err = f(ctx, in)
		return out, dataset.FuncError(err)
	}
}
