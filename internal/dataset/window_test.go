package dataset

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
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

// TestWindowsThatSpanTooMuch: a window whose last element has no number is refused; the
// largest that there is has all elements.
func TestWindowsThatSpanTooMuch(t *testing.T) {
	const most = math.MaxInt64
	for _, w := range [][2]int64{{most, 2}, {most/2 + 2, 2}, {3, most}, {most, most}} {
		for _, make := range []func(Dataset, int64, int64, int64, bool) (Dataset, error){Window, Slide} {
			_, err := make(numbers(t, 0, 5, 1), w[0], 1, w[1], true)
			if core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "is not representable") {
				t.Errorf("size %d, stride %d: %v", w[0], w[1], err)
			}
		}
	}
	for _, w := range [][2]int64{{most, 1}, {most/2 + 1, 2}, {2, most - 1}} {
		d := must2(t)(Slide(numbers(t, 0, 5, 1), w[0], most, w[1], false))
		if got := len(all(t, d)); got != 1 {
			t.Errorf("size %d, stride %d: %d windows, want 1", w[0], w[1], got)
		}
	}
}

// TestRebatchOfAll: the largest batch has all rows that are left.
func TestRebatchOfAll(t *testing.T) {
	d := must2(t)(Rebatch(must2(t)(Batch(numbers(t, 0, 10, 1), 4, false)), []int64{1, math.MaxInt64}, false, &Spec{scalars.Types, []core.Shape{{-1}}}))
	if got := fmt.Sprint(all(t, d)); got != "[[0] [1 2 3 4 5 6 7 8 9]]" {
		t.Error(got)
	}
}
