package dataset

import (
	"math"
	"testing"
)

// TestWindowsOfAll: how many windows there are is known for the largest shift, too.
func TestWindowsOfAll(t *testing.T) {
	for _, shift := range []int64{9, math.MaxInt64 - 5, math.MaxInt64} {
		d := must2(t)(Window(numbers(t, 0, 10, 1), shift, shift, 1, false))
		want := int64(1)
		if shift == 9 {
			want = 2
		}
		if n := d.Cardinality(); n != want || count(t, d) != want {
			t.Errorf("shift %d: cardinality %d, want %d", shift, n, want)
		}
	}
}
