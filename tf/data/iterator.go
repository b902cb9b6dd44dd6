package data

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// End is what [Iterator.Next] returns after the last element.
var End = dataset.ErrEnd

// An Iterator gives the elements of a dataset one after the other. It may be
// used from several goroutines, and has to be closed.
type Iterator struct{ c *dataset.Cursor }

// Iterator returns an iterator at the first element.
func (d *Dataset) Iterator() (*Iterator, error) {
	if d.err != nil {
		return nil, d.err
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
func (it *Iterator) Next(ctx context.Context) ([]*tf.Tensor, error) { return it.c.Next(ctx) }

// Close ends what the iterator has under way.
func (it *Iterator) Close() { it.c.Close() }

// Save returns where the iterator is: what Restore of an iterator of an equal
// dataset takes, also in another process.
func (it *Iterator) Save(ctx context.Context) ([]byte, error) {
	s, err := it.c.Save(ctx)
	if err != nil {
		return nil, err
	}
	list := &pb.TensorProto{Dtype: pb.DataType_DT_VARIANT}
	part := &pb.VariantTensorDataProto{TypeName: "gorge.IteratorState"}
	for _, key := range s.Keys() {
		t, err := tf.EncodeTensor(s.Get(key))
		if err != nil {
			return nil, err
		}
		part.Tensors = append(part.Tensors, tf.TensorProto(tf.Scalar(key)), t)
	}
	list.VariantVal = append(list.VariantVal, part)
	return proto.MarshalOptions{Deterministic: true}.Marshal(list)
}

// Restore brings the iterator to where another was saved.
func (it *Iterator) Restore(ctx context.Context, state []byte) error {
	list := &pb.TensorProto{}
	if err := proto.Unmarshal(state, list); err != nil || len(list.GetVariantVal()) != 1 {
		return errors.Join(errState, err)
	}
	parts, s := list.VariantVal[0].GetTensors(), dataset.NewState()
	for ; len(parts) > 1; parts = parts[2:] {
		key, err := tf.TensorFromProto(parts[0])
		if err != nil {
			return err
		}
		t, err := tf.TensorFromProto(parts[1])
		if err != nil {
			return err
		}
		if key.DType() != tf.String || key.Len() != 1 {
			return errState
		}
		s.Put(tf.Data[string](key)[0], t)
	}
	return it.c.Restore(ctx, s)
}

var errState = tf.Errorf(tf.InvalidArgument, "the state of an iterator must be what Save returned")
