package ops

import (
	"math"
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
			got, want := newUniques(serial, x, 1, len(x), 1), &uniques{index: make([]int, len(x))}
			uniqueByMap(want, names)
			if !slices.Equal(got.first, want.first) || !slices.Equal(got.count, want.count) || !slices.Equal(got.index, want.index) {
				t.Errorf("%d distinct ids, steps of %d: %d found, by a map %d", distinct, step, len(got.first), len(want.first))
			}
		}
	}
	if u := newUniques(serial, []int32{}, 1, 0, 1); len(u.first)+len(u.index) != 0 {
		t.Errorf("no ids have %v", u)
	}
}

func serial(n, _ int, f func(lo, hi int)) { f(0, n) }

func byteAt(v int64) (b []byte) {
	for k := range 8 {
		b = append(b, byte(v>>(8*k)))
	}
	return b
}

// TestUniqueRows: to compare each row with all distinct ones before it would take minutes.
func TestUniqueRows(t *testing.T) {
	const n = 1 << 19
	x := make([]int32, 2*n)
	for i := range n {
		x[2*i], x[2*i+1] = int32(i&0x3ff), int32(i>>10&0xff)
	}
	u := newUniques(serial, x, 1, n, 2)
	if len(u.first) != n/2 || u.count[7] != 2 || u.index[n/2+7] != 7 {
		t.Errorf("%d distinct rows, row 7 comes %d times, row %d is %d; want %d, 2 and 7", len(u.first), u.count[7], n/2+7, u.index[n/2+7], n/2)
	}
	nan := float32(math.NaN())
	if u := newUniques(serial, []float32{0, nan, 0, nan, 0, 1, float32(math.Copysign(0, -1)), 1}, 1, 4, 2); !slices.Equal(u.index, []int{0, 1, 2, 2}) {
		t.Errorf("rows are %v, want [0 1 2 2]", u.index)
	}
}
