package random

import (
	"slices"
	"testing"
)

// TestIndexShuffle has TensorFlow's values.
func TestIndexShuffle(t *testing.T) {
	for _, c := range []struct {
		most   uint64
		key    [3]uint32
		rounds int
		want   []uint64
	}{
		{0, [3]uint32{1, 2, 3}, 8, []uint64{0}},
		{1, [3]uint32{1, 2, 3}, 8, []uint64{0, 1}},
		{1, [3]uint32{1, 2, 3}, 4, []uint64{1, 0}},
		{9, [3]uint32{1, 2, 3}, 8, []uint64{6, 9, 4, 1, 3, 2, 0, 5}},
		{99, [3]uint32{7, 8, 9}, 4, []uint64{88, 15, 31, 7, 68, 91, 4, 69}},
		{70000, [3]uint32{1, 2, 3}, 8, []uint64{42029, 44867, 2884, 32425, 31104, 33491, 2929, 24989}},
		{70000, [3]uint32{4000000000, 5, 6}, 4, []uint64{8440, 46565, 32450, 34292, 40399, 58234, 8088, 36022}},
	} {
		s := NewIndexShuffle(c.key, c.most, c.rounds)
		for i, want := range c.want {
			if got := s.At(uint64(i)); got != want {
				t.Errorf("most %d, rounds %d: %d comes in place %d, want %d", c.most, c.rounds, got, i, want)
			}
		}
	}
}

// TestIndexShuffleIsAPermutation has sizes about where the cipher changes.
func TestIndexShuffleIsAPermutation(t *testing.T) {
	for _, n := range []int{2, 255, 256, 257, 65536, 65537, 65538, 200000} {
		s, seen := NewIndexShuffle([3]uint32{9, 8, 7}, uint64(n-1), 8), make([]int, n)
		for i := range n {
			seen[s.At(uint64(i))]++
		}
		if slices.Min(seen) != 1 {
			t.Errorf("of %d numbers some never come", n)
		}
	}
	for _, most := range []uint64{1 << 40, 1<<63 - 1} {
		if got := NewIndexShuffle([3]uint32{1, 2, 3}, most, 8).At(most); got > most {
			t.Errorf("%d is more than %d", got, most)
		}
	}
}
