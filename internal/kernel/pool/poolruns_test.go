package pool

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestRunsOfOverlappingWindows: where windows overlap, the vector loops that take a line as one
// window join the same elements in the same order, to the bit, as a plain loop.
func TestRunsOfOverlappingWindows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		if simd.poolSum == nil {
			return
		}
		rng, worth := rand.New(rand.NewPCG(5, 6)), 0
		for range 150 {
			v := overlapping(rng)
			v.eachRun(0, 1, func(r *run) {
				if v.worthLines(r) {
					worth++
				}
			})
			compareRuns(t, v, unevenImages(rng, v.Batch*v.LinesIn()*v.In[2]*v.C))
			if t.Failed() {
				t.Fatalf("%+v", v)
			}
		}
		if worth < 60 {
			t.Errorf("lines were joined first in %d of 150 poolings", worth)
		}
	})
}

// overlapping draws windows that all lie inside of the images.
func overlapping(rng *rand.Rand) *Pool {
	v := &Pool{Batch: 1 + rng.IntN(2), C: 1 + rng.IntN(40)}
	for i := range v.In {
		v.Kernel[i], v.Stride[i], v.Dilation[i], v.Out[i] = 1+rng.IntN(4), 1+rng.IntN(2)*rng.IntN(2), 1+rng.IntN(2)*rng.IntN(2), 1+rng.IntN(3)
		if i == 2 {
			v.Kernel[i], v.Out[i] = 2+rng.IntN(3), 10+64/v.C+rng.IntN(20)
		}
		v.In[i] = (v.Out[i]-1)*v.Stride[i] + (v.Kernel[i]-1)*v.Dilation[i] + 1 + rng.IntN(2)
	}
	return v
}

// unevenImages are of numbers whose sums round differently in another order, zeros of either sign
// and a few NaNs.
func unevenImages(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch rng.IntN(64) {
		case 0:
			x[i] = float32(math.NaN())
		case 1, 2, 3, 4, 5, 6, 7, 8:
			x[i] = float32(math.Copysign(0, rng.Float64()-0.5))
		default:
			x[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20))))
		}
	}
	return x
}

func compareRuns(t *testing.T, v *Pool, x []float32) {
	t.Helper()
	n := v.Batch * v.LinesOut() * v.Out[2] * v.C
	compare := func(what string, pool func(par kernel.Par, v *Pool, y, x []float32), join func(z, x, y []float32)) {
		got, want := make([]float32, n), make([]float32, n)
		pool(kerneltest.Backwards, v, got, x)
		lineWise(v, want, x, join)
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	compare("maximum", MaxPool[float32], elementwise.Max[float32])
	compare("sum", SumPool[float32], elementwise.Add[float32])
}

// lineWise joins the elements of each window in order: those below each other first where that
// takes less.
func lineWise(v *Pool, y, x []float32, join func(z, x, y []float32)) {
	v.eachRun(0, v.Batch*v.LinesOut(), func(r *run) {
		beside := 1
		if v.worthLines(r) {
			beside = len(r.offsets) / r.lines
		}
		for o := range r.count {
			column := make([][]float32, beside)
			for k := range column {
				for i := k; i < len(r.offsets); i += beside {
					tap := x[(r.pixel+o*v.Stride[2])*v.C+r.offsets[i]:][:v.C]
					column[k] = joined(column[k], tap, join)
				}
			}
			var all []float32
			for _, c := range column {
				all = joined(all, c, join)
			}
			copy(y[(r.window+o)*v.C:], all)
		}
	})
}

// joined joins x, if there is any so far, with y.
func joined(x, y []float32, join func(z, x, y []float32)) []float32 {
	if x == nil {
		return append(x, y...)
	}
	join(x, x, y)
	return x
}
