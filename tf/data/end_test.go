package data_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// TestEndOfAnother: a function that returns the end of another dataset fails, it
// does not end the dataset silently.
func TestEndOfAnother(t *testing.T) {
	generator := func() iter.Seq2[[]*tf.Tensor, error] {
		return func(yield func([]*tf.Tensor, error) bool) { yield(nil, data.End) }
	}
	for name, d := range map[string]*data.Dataset{
		"generator": data.FromGenerator(ints, []tf.Shape{nil}, generator),
		"filter":    data.Range(0, 9).Filter(func(context.Context, []*tf.Tensor) (bool, error) { return false, data.End }),
		"batches":   data.Range(0, 9).Filter(func(context.Context, []*tf.Tensor) (bool, error) { return false, data.End }).Batch(2, false),
	} {
		it, err := d.Iterator()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := it.Next(t.Context()); tf.CodeOf(err) != tf.OutOfRange || errors.Is(err, data.End) {
			t.Errorf("%s: Next = %v, which is the dataset's end: %v", name, err, errors.Is(err, data.End))
		}
		it.Close()
	}
}
