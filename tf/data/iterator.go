package data

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// End is what [Iterator.Next] returns after the last element.
var End = dataset.End

// An Iterator gives the elements of a dataset one after the other. It may be
// used from several goroutines, and has to be closed.
type Iterator struct{ c *dataset.Cursor }

// Iterator returns an iterator at the first element.
func (d *Dataset) Iterator() (*Iterator, error) {
	if d.Err() != nil {
		return nil, d.Err()
	}
	c := dataset.NewCursor(*d.d.Spec())
	if err := c.Start(context.Background(), d.d); err != nil {
		c.Close()
		return nil, err
	}
	return &Iterator{c}, nil
}

// Next returns the next element, or the error [End]. Any other error concerns
// one element: the next call goes on behind it.
// The tensors are the program's own.
func (it *Iterator) Next(ctx context.Context) ([]*tf.Tensor, error) {
	return it.next(ctx, (*core.Tensor).Clone)
}

// NextShared is [Iterator.Next] without copies, for feeds: the tensors may be the
// dataset's own, so the program must not write to them. Sessions in process that are fed
// with them do not copy them either.
func (it *Iterator) NextShared(ctx context.Context) ([]*tf.Tensor, error) {
	return it.next(ctx, (*core.Tensor).GiveAway)
}

// next returns the next element as leave makes it.
func (it *Iterator) next(ctx context.Context, leave func(*core.Tensor) *core.Tensor) (out []*tf.Tensor, err error) {
	if err := core.NeedContext(ctx, "Next"); err != nil {
		return nil, err
	}
	err = core.Guard("a dataset", func() error { // there may be no memory
		e, err := it.c.Next(ctx)
		out = each(e, leave)
		return err
	})
	return out, err
}

// Close ends what the iterator has under way.
func (it *Iterator) Close() { it.c.Close() }

// Save returns where the iterator is: what Restore of an iterator of an equal
// dataset takes, also in another process. It waits until no element is being computed, as long
// as ctx lasts and the iterator is not closed.
func (it *Iterator) Save(ctx context.Context) ([]byte, error) {
	if err := core.NeedContext(ctx, "Save"); err != nil {
		return nil, err
	}
	s, err := it.c.Save(ctx)
	if err != nil {
		return nil, err
	}
	p, err := core.EncodeTensor(s.Tensor())
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

// Restore brings the iterator to where another was saved.
func (it *Iterator) Restore(ctx context.Context, state []byte) error {
	if err := core.NeedContext(ctx, "Restore"); err != nil {
		return err
	}
	if len(state) == 0 {
		return author.Called(tf.Errorf(tf.InvalidArgument, "the state of an iterator must be what Save returned, got nothing"))
	}
	p := &pb.TensorProto{}
	if err := proto.Unmarshal(state, p); err != nil {
		return author.Called(tf.Errorf(tf.InvalidArgument, "the state of an iterator must be what Save returned: %v", err))
	}
	t, err := core.TensorFromProto(p)
	if err != nil {
		return err
	}
	s, err := dataset.StateOf(t)
	if err != nil {
		return err
	}
	return it.c.Restore(ctx, s)
}
