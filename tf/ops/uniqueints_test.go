package ops

import (
	"slices"
	"testing"
)

// TestUniqueInts compares ids by the table with what strings of them give by a map.
func TestUniqueInts(t *testing.T) {
	for _, distinct := range []int64{1, 2, 3, 100, 5000} {
		for _, step := range []int64{1, 1 << 20, 1 << 40, -7} {
			x, names := make([]int64, 3000), make([]string, 3000)
			for i := range x {
				x[i] = int64(i*i) % distinct * step
				names[i] = string(byteAt(x[i]))
			}
			got, want := newUniques(x, 1, len(x), 1), newUniques(names, 1, len(x), 1)
			if !slices.Equal(got.first, want.first) || !slices.Equal(got.count, want.count) || !slices.Equal(got.index, want.index) {
				t.Errorf("%d distinct ids, steps of %d: %d found, by a map %d", distinct, step, len(got.first), len(want.first))
			}
		}
	}
	if u := newUniques([]int32{}, 1, 0, 1); len(u.first)+len(u.index) != 0 {
		t.Errorf("no ids have %v", u)
	}
}

func byteAt(v int64) (b []byte) {
	for k := range 8 {
		b = append(b, byte(v>>(8*k)))
	}
	return b
}
