package batch

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// TestManyBatchesWait: a number of batches may be so large that it is no bound.
func TestManyBatchesWait(t *testing.T) {
	q := &pending{p: Params{MaxSize: 4, MaxBatches: math.MaxInt}.withDefaults()}
	for range 3 {
		if err := q.add([]*task{{rows: 1}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPartsOfOddOutputs: a request that is run in parts fails if its outputs cannot be put
// together.
func TestPartsOfOddOutputs(t *testing.T) {
	for want, y := range map[string]*tf.Tensor{
		"Batched output tensor has 0 dimensions": tf.Scalar[float32](1),
		"Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors": matrix(t, 5, 1, 0)["x"],
	} {
		q := NewQueue(nil, Params{MaxSize: 8, Split: true, MaxRun: 2}, func(context.Context, map[string]*tf.Tensor, []string) (map[string]*tf.Tensor, error) {
			return map[string]*tf.Tensor{"y": y}, nil
		}, nil)
		out, err := q.Run(t.Context(), matrix(t, 6, 1, 0), nil)
		if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %s", out, err, want)
		}
		if out, err := q.Run(t.Context(), matrix(t, 2, 1, 0), nil); err != nil || out["y"] != y {
			t.Errorf("of one part: %v, %v", out, err)
		}
		q.Close()
	}
}

// TestPartsOfOddRanks: a request fails if its parts have outputs of different ranks, as those
// of a graph that looks at the size of the batch.
func TestPartsOfOddRanks(t *testing.T) {
	for _, first := range []int{1, 2} {
		q := NewQueue(nil, Params{MaxSize: 8, Split: true, MaxRun: 2}, func(_ context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
			rows := in["x"].Dim(0)
			shape := []int{rows}
			if rows == first {
				shape = append(shape, 1)
			}
			y, err := tf.FromSlice(make([]float32, rows), shape...)
			return map[string]*tf.Tensor{"y": y}, err
		}, nil)
		out, err := q.Run(t.Context(), matrix(t, 3, 1, 0), nil)
		if tf.CodeOf(err) != tf.FailedPrecondition {
			t.Errorf("got %v, %v", out, err)
		}
		q.Close()
	}
}

// TestPaddedBeyondAllSizes: requests that no tensor could hold together run apart.
func TestPaddedBeyondAllSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{delay: time.Second}
		q := NewQueue(nil, Params{Threads: 1, Pad: true}, e.run, nil)
		defer q.Close()
		var all sync.WaitGroup
		all.Go(func() { q.Run(t.Context(), matrix(t, 1, 1, 0), nil) })
		synctest.Wait()
		for _, shape := range [][]int{{1, 1 << 40, 0}, {1, 0, 1 << 40}} {
			x, err := tf.Adopt([]float32{}, shape...)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				if out, err := q.Run(t.Context(), map[string]*tf.Tensor{"x": x}, nil); err != nil || !out["y"].Shape().Equal(shape) {
					t.Errorf("of shape %v: %v, %v", shape, out, err)
				}
			})
		}
		all.Wait()
	})
}
