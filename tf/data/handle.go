package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// NewIterator returns an iterator for elements of the given types and shapes (nil:
// any), that is on no dataset yet. [Iterator.Start] puts it on one, and on
// another one later.
func NewIterator(types []tf.DType, shapes []tf.Shape) *Iterator {
	return &Iterator{dataset.NewCursor(*specOf(types, shapes))}
}

// Start puts the iterator before the first element of d, which must have
// elements of its types and shapes.
func (it *Iterator) Start(ctx context.Context, d *Dataset) error {
	if err := core.NeedContext(ctx, "Start"); err != nil {
		return err
	}
	if d == nil {
		return author.Called(errNilDataset)
	}
	if d.Err() != nil {
		return d.Err()
	}
	err := it.c.Start(ctx, d.d)
	if err != nil && ctx.Err() == nil {
		return author.Called(err)
	}
	return err
}

// A Feed gives elements of one iterator or another: of the one that it was last
// pointed at. It may be used from several goroutines; their maker closes the
// iterators.
type Feed struct {
	spec dataset.Spec
	at   chan *Iterator // holds the one that it points at
}

// NewFeed returns a feed of elements of the given types and shapes (nil: any).
func NewFeed(types []tf.DType, shapes []tf.Shape) *Feed {
	f := &Feed{*specOf(types, shapes), make(chan *Iterator, 1)}
	f.at <- nil
	return f
}

// Point lets the feed give elements of it.
func (f *Feed) Point(it *Iterator) error {
	if it == nil {
		return author.Called(tf.Errorf(tf.InvalidArgument, "a feed must be pointed at an iterator, got nil"))
	}
	if err := f.spec.Admits(it.c.Spec()); err != nil {
		return author.Called(err)
	}
	<-f.at
	f.at <- it
	return nil
}

// Next returns the next element of the iterator, or its error.
func (f *Feed) Next(ctx context.Context) ([]*tf.Tensor, error) {
	it := <-f.at
	f.at <- it
	if it == nil {
		return nil, tf.Errorf(tf.FailedPrecondition, "a feed must be pointed at an iterator before the next element is taken")
	}
	return it.Next(ctx)
}
