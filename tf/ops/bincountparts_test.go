package ops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestBincountParts compares values that are counted in parts with values that are counted
// one after the other.
func TestBincountParts(t *testing.T) {
	pool := threads.Acquire(0)
	defer pool.Release()
	several := &core.OpContext{Step: &core.Step{Parallel: pool.ParallelFor}}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2 * valuesOfPart, 4*valuesOfPart + 3, 9*valuesOfPart + 1} {
		for _, size := range []int{0, 1, 3, 1000, valuesOfPart} {
			for _, equal := range []bool{false, true} {
				x := make([]int32, n)
				for i := range x {
					if x[i] = int32(rng.IntN(size + 2)); equal {
						x[i] = int32(max(0, size-1))
					}
				}
				compareCounts[int32](t, several, x, size)
				compareCounts[int64](t, several, x, size)
				compareCounts[float32](t, several, x, size)
				compareCounts[float64](t, several, x, size)
			}
		}
	}
}

// compareCounts counts x as it is, with weights and by rows. The weights are such that their
// sums are exact.
func compareCounts[T numeric.Real](t *testing.T, c *core.OpContext, x []int32, size int) {
	t.Helper()
	weights, long := make([]T, len(x)), make([]int64, len(x))
	for i, v := range x {
		weights[i], long[i] = T(i%37), int64(v)
	}
	for _, b := range []counter[T]{{}, {weights: weights}, {binary: true}, {weights: weights, binary: true}} {
		for _, width := range []int{max(1, len(x)), max(1, len(x)/3), 7} {
			n := (len(x) + width - 1) / width
			if n*size > 1<<22 {
				continue
			}
			b.size = size
			got, wide, want := b, b, b
			got.bins, wide.bins, want.bins = make([]T, n*size), make([]T, n*size), make([]T, n*size)
			if !countRows(c, &got, x, width) || !countRows(&core.OpContext{}, &wide, long, width) {
				t.Fatal("a value is negative")
			}
			for row := range n {
				r, v := want.row(row, width, len(x))
				countRow(r, x[row*width:][:v])
			}
			if name := fmt.Sprintf("%T: %d values in rows of %d, %d bins", b, len(x), width, size); !slices.Equal(got.bins, want.bins) || !slices.Equal(wide.bins, want.bins) {
				t.Fatalf("%s are not those of a loop", name)
			}
		}
	}
}

// TestBincountPartsOfFloats has sums that are rounded: they are those of the parts, added up
// in order, for any number of threads.
func TestBincountPartsOfFloats(t *testing.T) {
	pool := threads.Acquire(0)
	defer pool.Release()
	const n, size = 6*valuesOfPart + 5, 3
	x, weights, rng := make([]int32, n), make([]float32, n), rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x[i], weights[i] = int32(rng.IntN(size)), rng.Float32()
	}
	want := make([]float32, size)
	for k := range 3 {
		lo, hi := k*n/3, (k+1)*n/3
		half := lo + (hi-lo)/2
		for _, p := range [][2]int{{lo, half}, {half, hi}} {
			sums := [size]float32{}
			for i := p[0]; i < p[1]; i++ {
				sums[x[i]] += weights[i]
			}
			for i, v := range sums {
				want[i] += v
			}
		}
	}
	for _, c := range []*core.OpContext{{}, {Step: &core.Step{Parallel: pool.ParallelFor}}} {
		got := counter[float32]{bins: make([]float32, size), size: size, weights: weights}
		if countRows(c, &got, x, n); !slices.Equal(got.bins, want) {
			t.Errorf("%v, want %v", got.bins, want)
		}
	}
}

// TestBincountNegative has one negative value among many, at each place of a part and of
// rows.
func TestBincountNegative(t *testing.T) {
	const n = 2*valuesOfPart + 1
	for _, at := range []int{0, valuesOfPart - 1, valuesOfPart, n - 2, n - 1} {
		for _, width := range []int{n, 100} {
			x := make([]int64, n)
			x[at] = math.MinInt64
			rows := (n + width - 1) / width
			b := counter[float64]{bins: make([]float64, 3*rows), size: 3}
			if countRows(&core.OpContext{}, &b, x, width) {
				t.Errorf("a negative value at %d in rows of %d is counted", at, width)
			}
			if b.weights = make([]float64, n); countRows(&core.OpContext{}, &b, x, width) {
				t.Errorf("a negative value at %d in rows of %d is added", at, width)
			}
		}
	}
}

// TestCountsOfFloat32End: one more is no more than 1<<24.
func TestCountsOfFloat32End(t *testing.T) {
	x, b := make([]int32, 1<<24+2*valuesOfPart), counter[float32]{bins: make([]float32, 1), size: 1}
	if countRows(&core.OpContext{}, &b, x, len(x)); b.bins[0] != 1<<24 {
		t.Errorf("%v, want 1<<24", b.bins[0])
	}
}
