package ops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestStepsBehind compares ranges that are added to by blocks with ones made step by step.
func TestStepsBehind(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append([]int{stepsBlock - 1, stepsBlock, stepsBlock + 1, 3*stepsBlock + 7}, kerneltest.Lengths...) {
			for _, delta := range []int32{1, -3, math.MaxInt32} {
				got, want := make([]int32, n), make([]int32, n)
				stepsBehind(got, 5, delta)
				steps(want, 5, delta)
				if !slices.Equal(got, want) {
					t.Errorf("%d steps of %d differ", n, delta)
				}
			}
		}
	})
}

// TestAllFinite puts what is not finite everywhere in slices of numbers.
func TestAllFinite(t *testing.T) {
	unusual := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	for n := range 11 {
		x, y, h := make([]float32, n), make([]float64, n), make([]tf.Half, n)
		for i := range n {
			x[i], y[i], h[i] = -math.MaxFloat32, math.MaxFloat64, 0xfbff
		}
		half := allFinite16[tf.Half](0x7c00)
		if !allFinite(x) || !allFinite(y) || !half(h) {
			t.Errorf("%d finite numbers are said to be unusual", n)
		}
		for i := range n {
			for k, v := range unusual {
				x[i], y[i], h[i] = float32(v), v, []tf.Half{0x7e00, 0x7c00, 0xfc00}[k]
				if allFinite(x) || allFinite(y) || half(h) {
					t.Errorf("%v at %d of %d is said to be finite", v, i, n)
				}
			}
			x[i], y[i], h[i] = 0, 0, 0
		}
	}
}

// TestSparsePlaces has the same places, and the same errors, as the check of one index after
// the other.
func TestSparsePlaces(t *testing.T) {
	r, s := rand.New(rand.NewPCG(3, 3)), tf.Shape{3, 2, 4}
	for range 500 {
		v := make([]int64, 0, 15)
		for i := range 1 + r.IntN(4) {
			v = append(v, int64(min(i, 2)), int64(r.IntN(2)), int64(r.IntN(5)-r.IntN(20)/19))
		}
		n := len(v) / 3
		idx, err := core.FromSlice(v, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		at, err := sparsePlaces(&core.OpContext{}, idx, s, true)
		if want := checkSparseRows(v, n, s); (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Fatalf("%v: %v, want %v", v, err, want)
		}
		for i, place := range at {
			if place != (v[3*i]*2+v[3*i+1])*4+v[3*i+2] {
				t.Errorf("%v: place %d is %d", v, i, place)
			}
		}
	}
}

// TestScanAbreast compares lines side by side with one after the other.
func TestScanAbreast(t *testing.T) {
	for _, flags := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		s := scan[float32]{join: elementwise.LogAddExp[float32], init: float32(math.Inf(-1)), exclusive: flags[0], reverse: flags[1]}
		for _, lines := range []int{1, linesAbreast - 1, linesAbreast, 2*linesAbreast + 5} {
			for _, n := range []int{1, linesAbreast, linesAbreast + 1, 3*linesAbreast - 1} {
				x := kerneltest.Random[float32](lines*n, 6)
				got, want := make([]float32, len(x)), make([]float32, len(x))
				scanAbreast(&s, got, x, n)
				for i := 0; i < len(x); i += n {
					s.run(want[i:i+n], x[i:i+n], nil, n, 1)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d lines of %d, exclusive and reverse %v: they differ", lines, n, flags)
				}
			}
		}
	}
}

// placeOfBlock returns where in the spatial form a place of the one with more batches lies.
func placeOfBlock(b spaceBlocks, at []int, space tf.Shape) (int, bool) {
	within, to := at[0]/space[0], at[0]%space[0]
	for k, n := range b.block {
		rest := product(b.block[k+1:])
		p := at[1+k]*n + within/rest - b.margins[2*k]
		within %= rest
		if p < 0 || p >= space[1+k] {
			return 0, false
		}
		to = to*space[1+k] + p
	}
	return to, true
}

// TestBlockLines compares lines of runs with places of single runs.
func TestBlockLines(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 300 {
		b, space := spaceBlocks{}, tf.Shape{1 + r.IntN(3)}
		for range 1 + r.IntN(3) {
			n, size := 1+r.IntN(3), 1+r.IntN(6)
			before := r.IntN(5)
			after := (n - (before+size)%n) % n
			b.block, b.margins, space = append(b.block, n), append(b.margins, before, after), append(space, size)
		}
		batch, err := b.outShape(space, true)
		if err != nil {
			t.Fatal(err)
		}
		last := batch[len(batch)-1]
		at := make([]int, len(batch))
		for i := range product(batch) {
			in, first, n := b.line(i/last, space, batch)
			for k, rest := len(at)-1, i; k >= 0; k-- {
				at[k], rest = rest%batch[k], rest/batch[k]
			}
			want, inside := placeOfBlock(b, at, space)
			j := i%last - first
			if inside != (j >= 0 && j < n) || inside && in+j*b.block[len(b.block)-1] != want {
				t.Fatalf("%v of %v, place %v: run %d of %d from %d, want %d, %v", b, space, at, j, n, in, want, inside)
			}
		}
	}
}

// TestWherePairs compares counts and indices of matrices with ones found one by one.
func TestWherePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for _, cols := range []int{1, 5, 64, 3000} {
		set := make([]bool, 3*cols)
		var want []int64
		for i := range set {
			if set[i] = cols == 3000 || r.IntN(2) == 0; set[i] {
				want = append(want, int64(i/cols), int64(i%cols))
			}
		}
		if n := countTrue(set); n != len(want)/2 {
			t.Errorf("%d of %d are counted, want %d", n, len(set), len(want)/2)
		}
		got := make([]int64, len(want))
		putPositions(got, set, tf.Shape{3, cols})
		if !slices.Equal(got, want) {
			t.Errorf("indices of %d columns differ", cols)
		}
	}
}
