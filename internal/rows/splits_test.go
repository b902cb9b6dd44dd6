package rows

import "testing"

func TestVerifySplits(t *testing.T) {
	for _, c := range []struct {
		splits []int
		n      int
		ok     bool
	}{{[]int{0}, 0, true}, {[]int{0, 2, 2, 5}, 5, true}, {nil, 0, false}, {[]int{1, 2}, 2, false}, {[]int{0, 3, 2}, 2, false}, {[]int{0, 2}, 3, false}} {
		if err := VerifySplits(c.splits, c.n); (err == nil) != c.ok {
			t.Errorf("%v of %d values: %v", c.splits, c.n, err)
		}
	}
}
