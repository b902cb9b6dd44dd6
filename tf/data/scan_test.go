package data_test

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// sums are the sums of the elements so far.
func sums(d *data.Dataset) *data.Dataset {
	add := func(_ context.Context, state, in []*tf.Tensor) (next, out []*tf.Tensor, err error) {
		sum := []*tf.Tensor{tf.Scalar(tf.Data[int64](state[0])[0] + tf.Data[int64](in[0])[0])}
		return sum, sum, nil
	}
	return d.Scan([]*tf.Tensor{tf.Scalar[int64](0)}, add, ints, []tf.Shape{{}})
}

func TestScan(t *testing.T) {
	d := sums(data.Range(0, 6))
	for range 2 { // each iterator begins with the first state
		if got := joined(t, d); got != "0 1 3 6 10 15" {
			t.Error(got)
		}
	}
	lost := func(context.Context, []*tf.Tensor, []*tf.Tensor) (next, out []*tf.Tensor, err error) {
		return nil, nil, nil
	}
	for _, err := range data.Range(0, 1).Scan([]*tf.Tensor{tf.Scalar[int64](0)}, lost, ints, nil).All(t.Context()) {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	}
	if err := data.Range(0, 1).Scan(nil, nil, ints, nil).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if err := data.Range(0, 1).Scan([]*tf.Tensor{nil}, lost, ints, nil).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

func TestTakeWhile(t *testing.T) {
	small := func(_ context.Context, in []*tf.Tensor) (bool, error) { return tf.Data[int64](in[0])[0] < 4, nil }
	if got := joined(t, data.Range(0, 3).Repeat(-1).Enumerate(0).TakeWhile(small)); got != "0;0 1;1 2;2 3;0" {
		t.Error(got)
	}
	if err := data.Range(0, 3).TakeWhile(nil).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}
