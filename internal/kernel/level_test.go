package kernel

import (
	"math/rand/v2"
	"testing"
)

// eachLevel runs a test with every instruction set of this machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	all := levels()
	for _, l := range all {
		if !l.available {
			continue
		}
		l.use()
		t.Run(l.name, f)
	}
	all[firstAvailable(all)].use()
}

func firstAvailable(all []level) int {
	for i, l := range all {
		if l.available {
			return i
		}
	}
	return -1
}

// random returns n numbers between -1 and 1 that are the same in every run.
func random[T Float](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(2*r.Float64() - 1)
	}
	return x
}

// backwards is a Par that runs single indices, the last first.
func backwards(n, _ int, f func(lo, hi int)) {
	for i := n - 1; i >= 0; i-- {
		f(i, i+1)
	}
}
