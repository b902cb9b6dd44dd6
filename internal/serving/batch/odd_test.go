package batch

import (
	"math"
	"testing"
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
