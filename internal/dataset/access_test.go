package dataset

import (
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
