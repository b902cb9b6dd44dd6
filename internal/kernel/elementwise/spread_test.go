package elementwise

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestShortRuns: operands that go on along short runs give what each run by itself gives, from
// and up to any place.
func TestShortRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		x, y := make([]int, 4), make([]int, 4)
		for i := range x {
			x[i] = 1 + r.IntN(12)
			y[i] = x[i]
			switch r.IntN(3) {
			case 0:
				x[i] = 1
			case 1:
				y[i] = 1
			}
		}
		x[3] = 1 + r.IntN(20)
		y[3] = x[3]
		b, ok := NewBroadcast(x, y)
		if !ok {
			t.Fatal(x, y)
		}
		l := SubLoops[float32]()
		p, q := kerneltest.RandomSlice[float32](r, kernel.Product(x)), kerneltest.RandomSlice[float32](r, kernel.Product(y))
		want := make([]float32, b.Len)
		step := b.Inner()
		b.Runs(0, b.Len, func(at int, off []int, n int) { l.run(want[at:at+n], p[off[0]:], step[0], q[off[1]:], step[1]) })
		got := slices.Clone(want)
		lo := r.IntN(b.Len)
		hi := lo + r.IntN(b.Len-lo+1)
		clear(got[lo:hi])
		l.zipRange(b, got, p, q, lo, hi)
		if b.ShortRuns() {
			clear(got[lo:hi])
			l.zipSpread(b, got, p, q, lo, hi)
		}
		if !slices.EqualFunc(got, want, kerneltest.Same) {
			t.Fatalf("%v and %v, results %d to %d differ", x, y, lo, hi)
		}
	}
}
