package ops_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestBoundsAskAsSearch compares the bounds with those of package sort, which asks for the
// same elements: of rows that are sorted, that are not, and with NaN.
func TestBoundsAskAsSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		sorted, v := make([]float32, 3*n), make([]float32, 3*50)
		for i := range sorted {
			sorted[i] = float32(rng.IntN(20))
		}
		if n > 1 {
			sort.Slice(sorted[:n], func(i, j int) bool { return sorted[i] < sorted[j] })
			sorted[n+rng.IntN(n)] = float32(math.NaN())
		}
		for i := range v {
			v[i] = float32(rng.IntN(22)) - 1
		}
		v[60] = float32(math.NaN())
		checkBounds(t, sorted, v, n)
	}
}

func checkBounds(t *testing.T, sorted, v []float32, n int) {
	t.Helper()
	g := eager.New()
	rows, values := ops.Const(g, sorted, 3, n), ops.Const(g, v, 3, len(v)/3)
	lower, err := ops.LowerBound(rows, values).Value()
	if err != nil {
		t.Fatal(err)
	}
	upper, err := ops.UpperBound(rows, values).Value()
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range v {
		row := sorted[i/(len(v)/3)*n:][:n]
		if want, got := sort.Search(n, func(k int) bool { return !(row[k] < x) }), int(tf.Data[int32](lower)[i]); got != want {
			t.Fatalf("lower bound of %v in %v is %d, want %d", x, row, got, want)
		}
		if want, got := sort.Search(n, func(k int) bool { return x < row[k] }), int(tf.Data[int32](upper)[i]); got != want {
			t.Fatalf("upper bound of %v in %v is %d, want %d", x, row, got, want)
		}
	}
}
