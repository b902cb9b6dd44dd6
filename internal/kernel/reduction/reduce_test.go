package reduction

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// reduceTwin folds by definition: element by element, in order.
func reduceTwin[T any](shape []int, reduced []bool, src []T, init T, join func(a, b T) T) []T {
	var kept []int
	for i, n := range shape {
		if !reduced[i] {
			kept = append(kept, n)
		}
	}
	dst := make([]T, kernel.Product(kept))
	kernel.Fill(dst, init)
	kerneltest.EachIndex(shape, func(at int, index []int) {
		o := 0
		for i, n := range shape {
			if !reduced[i] {
				o = o*n + index[i]
			}
		}
		dst[o] = join(dst[o], src[at])
	})
	return dst
}

var reduceShapes = [][]int{
	{}, {1}, {7}, {3, 5}, {5, 1, 4}, {2, 3, 4}, {2, 3, 4, 5}, {3, 2, 2, 3, 2}, {0, 4}, {4, 0}, {200, 3}, {3, 200}, {150, 530}, {2, 130, 3}, {70, 600, 2}, {3, 40, 2, 20, 2},
}

// eachReduction calls f for every shape with every choice of axes.
func eachReduction(f func(shape []int, reduced []bool)) {
	for _, shape := range reduceShapes {
		for axes := range 1 << len(shape) {
			reduced := make([]bool, len(shape))
			for i := range reduced {
				reduced[i] = axes>>i&1 == 1
			}
			f(shape, reduced)
		}
	}
}

func checkReduce[T interface {
	comparable
	memory.Plain
}](t *testing.T, name string, src func(n int) []T, f Fold[T], join func(a, b T) T) {
	t.Helper()
	eachReduction(func(shape []int, reduced []bool) {
		x := src(kernel.Product(shape))
		r := NewReduction(shape, reduced)
		got := make([]T, r.Len)
		Reduce(kerneltest.Pieces, r, got, x, f)
		if want := reduceTwin(shape, reduced, x, f.Init, join); !slices.Equal(got, want) {
			t.Errorf("%s of %v along %v: %v, want %v", name, shape, reduced, got, want)
		}
	})
}

func TestReduceExact(t *testing.T) {
	bools := func(n int) []bool {
		x := make([]bool, n)
		for i := range x {
			x[i] = i%5 < 4
		}
		return x
	}
	signs := func(n int) []int32 {
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(i*i%5) - 2
		}
		return x
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		checkReduce(t, "sum", kerneltest.Counting[int64], SumFold[int64](), func(a, b int64) int64 { return a + b })
		checkReduce(t, "float sum", kerneltest.Counting[float32], SumFold[float32](), func(a, b float32) float32 { return a + b })
		checkReduce(t, "product", signs, ProdFold[int32](), func(a, b int32) int32 { return a * b })
		checkReduce(t, "max", kerneltest.Counting[float32], MaxFold[float32](), func(a, b float32) float32 { return max(a, b) })
		checkReduce(t, "min", signs, MinFold[int32](), func(a, b int32) int32 { return min(a, b) })
		checkReduce(t, "all", bools, AllFold(), func(a, b bool) bool { return a && b })
		checkReduce(t, "any", bools, AnyFold(), func(a, b bool) bool { return a || b })
	})
}

// TestReduceNarrow folds many short rows, in lengths that fill blocks and that
// do not.
func TestReduceNarrow(t *testing.T) {
	digits := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i * i % 7)
		}
		return x
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, shape := range [][]int{{2 * kernel.ElementGrain, 1}, {60011, 3}, {2 * (kernel.ElementGrain / 32), 32}, {3000, 33}, {512, 128}, {1003, 127}} {
			x, reduced := digits(kernel.Product(shape)), []bool{true, false}
			for name, f := range map[string]Fold[float32]{"sum": SumFold[float32](), "max": MaxFold[float32]()} {
				r := NewReduction(shape, reduced)
				got, again := make([]float32, r.Len), make([]float32, r.Len)
				Reduce(kerneltest.Backwards, r, got, x, f)
				if want := reduceTwin(shape, reduced, x, f.Init, f.Join); !slices.Equal(got, want) {
					t.Errorf("%s of %v: %v, want %v", name, shape, got, want)
				}
				noise := kerneltest.Random[float32](len(x), 3)
				Reduce(kernel.Serial, r, got, noise, f)
				Reduce(kerneltest.Backwards, r, again, noise, f)
				if !slices.Equal(got, again) {
					t.Errorf("%s of %v depends on how the work is shared", name, shape)
				}
			}
		}
	})
}

func TestReduceOfNothing(t *testing.T) {
	r := NewReduction([]int{0, 2}, []bool{true, false})
	got := []float32{7, 7}
	Reduce(kernel.Serial, r, got, nil, MaxFold[float32]())
	if got[0] != -kerneltest.Inf || got[1] != -kerneltest.Inf {
		t.Errorf("the greatest of nothing is %v, want -Inf", got)
	}
	if got := numeric.Lowest[int32](); got != math.MinInt32 {
		t.Errorf("lowest int32 %v", got)
	}
	if got := numeric.Highest[int64](); got != math.MaxInt64 {
		t.Errorf("highest int64 %v", got)
	}
	if lo, hi := numeric.Lowest[uint8](), numeric.Highest[uint8](); lo != 0 || hi != 255 {
		t.Errorf("uint8 from %v to %v", lo, hi)
	}
}

// TestSumAccuracy sums numbers of one sign, where adding in order loses most.
func TestSumAccuracy(t *testing.T) {
	x := make([]float32, 1<<21+3)
	kernel.Fill(x, 0.1)
	want := float64(float32(0.1)) * float64(len(x))
	kerneltest.EachLevel(t, func(t *testing.T) {
		if got := float64(Sum(x)); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("sum %v, want %v", got, want)
		}
		r := NewReduction([]int{len(x) / 3, 3}, []bool{true, false})
		var cols [3]float32
		Reduce(kernel.Serial, r, cols[:], x[:len(x)/3*3], SumFold[float32]())
		if got := float64(cols[1]); math.Abs(got*3/want-1) > 2e-4 {
			t.Errorf("column sum %v, want %v", got, want/3)
		}
	})
}

func TestSumLengths(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append(kerneltest.Lengths, 4095, 4097, 8193) {
			x := kerneltest.Counting[float32](n + 1)[1:]
			want := float32(0)
			for _, v := range x {
				want += v // exact: small integers
			}
			if got := Sum(x); got != want {
				t.Errorf("length %d: %v, want %v", n, got, want)
			}
		}
	})
}

func TestExtremesSeeNaNAnywhere(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 16, 17, 64, 65, 130} {
			for at := range n {
				x := kerneltest.Random[float32](n, 5)
				top := slices.Max(x)
				if got := MaxFold[float32]().Run(x); got != top {
					t.Fatalf("greatest of %d: %v, want %v", n, got, top)
				}
				if got := MinFold[float32]().Run(x); got != slices.Min(x) {
					t.Fatalf("least of %d: %v", n, got)
				}
				x[at] = kerneltest.NaN
				hi, lo := MaxFold[float32]().Run(x), MinFold[float32]().Run(x)
				if hi == hi || lo == lo {
					t.Fatalf("NaN at %d of %d: greatest %v, least %v", at, n, hi, lo)
				}
			}
		}
		if got := MaxFold[float32]().Run([]float32{-kerneltest.Inf, -3, -4}); got != -3 {
			t.Errorf("greatest is %v, want -3", got)
		}
	})
}

func TestReduceBitsDoNotDependOnPar(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, shape := range [][]int{{100000}, {300, 257}, {20, 30, 40}} {
			x := kerneltest.Random[float32](kernel.Product(shape), 3)
			for axes := range 1 << len(shape) {
				reduced := make([]bool, len(shape))
				for i := range reduced {
					reduced[i] = axes>>i&1 == 1
				}
				r := NewReduction(shape, reduced)
				one, many := make([]float32, r.Len), make([]float32, r.Len)
				Reduce(kernel.Serial, r, one, x, SumFold[float32]())
				Reduce(kerneltest.Backwards, r, many, x, SumFold[float32]())
				if !slices.Equal(one, many) {
					t.Errorf("%v along %v: the sum depends on how the work is shared", shape, reduced)
				}
			}
		}
	})
}

func TestArgMax(t *testing.T) {
	f := func(v ...float32) []float32 { return v }
	for _, c := range []struct {
		x        []float32
		max, min int32
	}{
		{f(1, 3, 2), 1, 0}, {f(2, 2, 1, 1), 0, 2}, {f(kerneltest.NaN, 1, 2), 2, 1}, {f(1, kerneltest.NaN, 0), 0, 2},
		{f(kerneltest.NaN, kerneltest.NaN), 0, 0}, {f(kerneltest.NaN, -1, kerneltest.NegZero, 0, kerneltest.Inf, -kerneltest.Inf), 4, 5}, {f(5), 0, 0},
	} {
		var hi, lo [1]int32
		ArgMax(kernel.Serial, hi[:], c.x, 1, len(c.x), 1)
		ArgMin(kernel.Serial, lo[:], c.x, 1, len(c.x), 1)
		if hi[0] != c.max || lo[0] != c.min {
			t.Errorf("%v: greatest at %d, least at %d; want %d, %d", c.x, hi[0], lo[0], c.max, c.min)
		}
	}
	got := make([]int64, 4)
	ArgMax(kerneltest.Pieces, got, []int32{1, 9, 5, 2, 3, 4, 8, 0, 0, 8, 7, 1}, 2, 3, 2)
	if want := []int64{1, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("middle axis: %v, want %v", got, want)
	}
}

// TestReduceOuterIsExact sums equal numbers along a first and a last dimension: an error that
// grew with their number would be a hundredth of the sum.
func TestReduceOuterIsExact(t *testing.T) {
	for _, shape := range [][]int{{1 << 18, 2, 2}, {2, 1 << 18, 2, 2}} {
		reduced := []bool{true, false, true}
		if len(shape) == 4 {
			reduced = append([]bool{false}, reduced...)
		}
		x := make([]float32, kernel.Product(shape))
		kernel.Fill(x, 0.2)
		r := NewReduction(shape, reduced)
		got := make([]float32, r.Len)
		Reduce(kerneltest.Pieces, r, got, x, SumFold[float32]())
		for _, v := range got {
			if want := 0.2 * float64(r.Count); math.Abs(float64(v)-want) > want*1e-6 {
				t.Errorf("sum of %v along %v: got %v, want %v", shape, reduced, v, want)
			}
		}
	}
}
