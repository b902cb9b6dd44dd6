package dataset

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestOrderWithoutMemory: an order that does not fit the memory fails each call that asks
// for an element of it, and none waits for another.
func TestOrderWithoutMemory(t *testing.T) {
	d := must2(t)(Shuffle(numbers(t, 0, 1<<50, 1), 4, 1, NewSeeds(1, 2, false)))
	for range 2 {
		err := core.Guard("an element by its number", func() error {
			_, err := At(t.Context(), d, 0)
			return err
		})
		if core.CodeOf(err) != core.ResourceExhausted {
			t.Errorf("%v, want RESOURCE_EXHAUSTED", err)
		}
	}
}

// TestRangeOfAllNumbers: a range with more numbers than can be counted begins as any other.
func TestRangeOfAllNumbers(t *testing.T) {
	for step, first := range map[int64]int64{1: math.MinInt64, -1: math.MaxInt64} {
		d := numbers(t, first, -first-step, step)
		it := mustIterate(t, d)
		defer it.Close()
		e, err := it.Next(t.Context())
		want := map[int64]int64{1: Infinite, -1: math.MaxInt64}[step]
		if err != nil || core.Data[int64](e[0])[0] != first || d.Cardinality() != want {
			t.Errorf("step %d: %v (%v) of %d elements", step, e, err, d.Cardinality())
		}
	}
}
