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

// TestEndOfContext: a loop over elements that ctx ends tells so, and is not as one that
// has seen all.
func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range data.Range(0, 6).All(ctx) {
		if last = err; err == nil {
			n++
		}
		if n == 2 {
			cancel()
		}
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("a loop that was cancelled had %d elements and ended with %v", n, last)
	}
}

// TestSaveCancelled: what ctx has ended has not been saved.
func TestSaveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := data.Range(0, 5).Map(func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		if tf.Data[int64](in[0])[0] == 2 {
			cancel()
		}
		return in, nil
	}, ints, nil)
	if err := d.Save(ctx, t.TempDir(), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Save that was cancelled: %v", err)
	}
}
