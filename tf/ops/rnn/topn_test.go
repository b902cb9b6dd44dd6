package rnn

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTopN pushes numbers, asks for the worst now and then, and wants the best
// to remain.
func TestTopN(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rnd.IntN(9)
		top := newTopN(n, func(a, b int) bool { return a > b })
		var all []int
		for range rnd.IntN(40) {
			v := rnd.IntN(12)
			top.push(v)
			all = append(all, v)
			slices.SortFunc(all, func(a, b int) int { return b - a })
			all = all[:min(n, len(all))]
			if rnd.IntN(3) == 0 && top.bottom() != all[len(all)-1] {
				t.Fatalf("the worst of %v is said to be %d", all, top.bottom())
			}
		}
		if top.len() != len(all) {
			t.Fatalf("%d are kept of %v", top.len(), all)
		}
		if got := top.extract(); !slices.Equal(got, all) {
			t.Fatalf("got %v, want %v", got, all)
		}
		if top.len() != 0 {
			t.Fatal("what was extracted is still there")
		}
	}
}
