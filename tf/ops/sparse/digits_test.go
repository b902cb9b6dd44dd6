package sparse

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortByDigits compares with a stable sort by comparisons.
func TestSortByDigits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{0, 1, 1023, 1024, 1 << 20, math.MaxInt64} {
		for _, n := range []int{0, 1, 3, 600} {
			items := make([]placed, n)
			for i := range items {
				items[i] = placed{most, i}
				if i%5 > 0 && most < math.MaxInt64 {
					items[i].place = rnd.IntN(most + 1)
				} else if i%5 > 0 {
					items[i].place = rnd.Int()
				}
			}
			want := slices.Clone(items)
			slices.SortStableFunc(want, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
			if got := sortByDigits(items, most); !slices.Equal(got, want) {
				t.Errorf("%d places up to %d are not in order", n, most)
			}
		}
	}
}
