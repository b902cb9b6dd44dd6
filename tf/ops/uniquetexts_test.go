package ops

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/threads"
)

// TestUniqueTexts compares texts by their hashes with texts by a map.
func TestUniqueTexts(t *testing.T) {
	pool := threads.Acquire(0)
	defer pool.Release()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 3, 100, textsOfTask + 1, 9*textsOfTask + 5} {
		for _, distinct := range []int{1, 2, 100, 1 << 20} {
			x := make([]string, n)
			for i := range x {
				k := rng.IntN(distinct)
				x[i] = strings.Repeat("a", k%19) + string(byteAt(int64(k)))[:k%9]
			}
			for _, par := range []parallel{serial, pool.ParallelFor} {
				compareUniques(t, newUniques(par, x, 1, n, 1), x)
			}
		}
	}
}

func compareUniques(t *testing.T, got *uniques, x []string) {
	t.Helper()
	want := &uniques{index: make([]int, len(x))}
	uniqueByMap(want, x)
	if !slices.Equal(got.first, want.first) || !slices.Equal(got.count, want.count) || !slices.Equal(got.index, want.index) {
		t.Errorf("of %d texts %d are distinct, by a map %d", len(x), len(got.first), len(want.first))
	}
	got.release()
}

// TestTextsOfOneHash has equal hashes of texts that differ: that is seen.
func TestTextsOfOneHash(t *testing.T) {
	x := []string{"a", "b", "a", "c"}
	for _, c := range []struct {
		hashes []uint64
		same   bool
	}{
		{[]uint64{5, 6, 5, 7}, true},
		{[]uint64{5, 5 + 1<<40, 5, 5 + 1<<50}, true}, // all in one place of the table
		{[]uint64{5, 6, 5, 6}, false},
		{[]uint64{0, 0, 0, 0}, false},
	} {
		u := &uniques{}
		u.byHashes(&uniqueScratch{hashes: c.hashes})
		if got := u.sameTexts(serial, x); got != c.same {
			t.Errorf("hashes %v: %t, want %t", c.hashes, got, c.same)
		} else if got {
			compareUniques(t, u, x)
		}
	}
}
