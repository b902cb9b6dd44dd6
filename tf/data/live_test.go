package data_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// TestWhatIsAheadOfALiveGenerator: while a generator waits for something, what it has given
// comes, and calls end with their contexts.
func TestWhatIsAheadOfALiveGenerator(t *testing.T) {
	yes := func(context.Context, []*tf.Tensor) (bool, error) { return true, nil }
	for name, over := range map[string]func(*data.Dataset) *data.Dataset{
		"prefetch":         func(d *data.Dataset) *data.Dataset { return d.Prefetch(4) },
		"map":              func(d *data.Dataset) *data.Dataset { return d.ParallelMap(double, ints, nil, 4, true) },
		"map in any order": func(d *data.Dataset) *data.Dataset { return d.ParallelMap(double, ints, nil, 4, false) },
		"filter":           func(d *data.Dataset) *data.Dataset { return d.ParallelFilter(yes, 4) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				arrived := make(chan struct{}, 1)
				it, err := over(data.FromGenerator(ints, []tf.Shape{{}}, arrivals(arrived))).Iterator()
				if err != nil {
					t.Fatal(err)
				}
				arrived <- struct{}{}
				if _, err := it.Next(soon(t)); err != nil {
					t.Errorf("the first element: %v", err)
				}
				if _, err := it.Next(soon(t)); tf.CodeOf(err) != tf.DeadlineExceeded {
					t.Errorf("Next: %v", err)
				}
				if _, err := it.Save(soon(t)); tf.CodeOf(err) != tf.DeadlineExceeded {
					t.Errorf("Save: %v", err)
				}
				close(arrived)
				it.Close()
			})
		})
	}
}

// arrivals gives a number for each token.
func arrivals(from <-chan struct{}) func() iter.Seq2[[]*tf.Tensor, error] {
	return func() iter.Seq2[[]*tf.Tensor, error] {
		return func(yield func([]*tf.Tensor, error) bool) {
			for range from {
				if !yield([]*tf.Tensor{tf.Scalar(int64(1))}, nil) {
					return
				}
			}
		}
	}
}

// soon is a context that ends when nothing goes on any more.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}
