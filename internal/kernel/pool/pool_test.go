package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// poolOf turns the window of a convolution into one of a pooling.
func poolOf(v *kerneltest.Images) *Pool { return &Pool{Window: v.Window, Batch: v.Batch, C: v.InC} }

// eachPooled calls f for each element that a window covers, the windows and
// their elements in order.
func eachPooled(v *Pool, f func(y, x int)) {
	c := &kerneltest.Images{Window: v.Window, Batch: v.Batch, InC: v.C, OutC: v.C, Groups: v.C}
	c.EachProduct(func(y, x, _ int) { f(y, x) })
}

func TestPooling(t *testing.T) {
	for name, c := range kerneltest.Windows() {
		for how, par := range map[string]kernel.Par{"serial": kernel.Serial, "in pieces": kerneltest.Backwards} {
			t.Run(name+" "+how, func(t *testing.T) { testPooling(t, poolOf(c), par) })
		}
	}
}

func testPooling(t *testing.T, v *Pool, par kernel.Par) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := kerneltest.RandomSlice[float64](rng, v.Batch*v.LinesIn()*v.In[2]*v.C)
	dy := kerneltest.RandomSlice[float64](rng, v.Batch*v.LinesOut()*v.Out[2]*v.C)
	best, arg, n := make([]float64, len(dy)), make([]int, len(dy)), make([]float64, len(dy))
	mean := make([]float64, len(dy))
	kernel.Fill(best, numeric.Lowest[float64]())
	kernel.Fill(arg, -1)
	eachPooled(v, func(y, i int) {
		if n[y]++; x[i] > best[y] {
			best[y], arg[y] = x[i], i
		}
		mean[y] += x[i]
	})
	sum := slices.Clone(mean)
	dxMax, dxMean, chosen := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(dy))
	for y, i := range arg {
		mean[y] /= max(1, n[y])
		if i >= 0 {
			dxMax[i] += dy[y]
			chosen[y] = x[i]
		}
	}
	eachPooled(v, func(y, i int) { dxMean[i] += dy[y] / n[y] })
	got, at := make([]float64, max(len(x), len(dy))), make([]int64, len(dy))
	check := func(what string, want []float64, f func(dst []float64)) {
		kernel.Fill(got, math.NaN())
		f(got[:len(want)])
		if err := kerneltest.FarApart(got[:len(want)], want, 1e-12); err != "" {
			t.Errorf("%s: %s", what, err)
		}
	}
	check("maximum", best, func(dst []float64) { MaxPool(par, v, dst, x) })
	MaxPoolArg(par, v, at, x)
	check("gradient of the maximum", dxMax, func(dst []float64) { MaxPoolGrad(par, v, dst, dy, at) })
	check("gradient of the maximum of images", dxMax, func(dst []float64) { MaxPoolBack(par, v, nil, dst, x, dy) })
	check("chosen elements", chosen, func(dst []float64) { MaxPoolGather(par, v, dst, x, at) })
	check("sum", sum, func(dst []float64) { SumPool(par, v, dst, x) })
	check("mean", mean, func(dst []float64) { AvgPool(par, v, dst, x) })
	check("gradient of the mean", dxMean, func(dst []float64) { AvgPoolGrad(par, v, dst, dy) })
}

// TestPoolingSingle: single precision has loops of its own, with every number of
// channels, NaNs and ties.
func TestPoolingSingle(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, c := range kerneltest.Windows() {
			for _, channels := range []int{1, 7, 16, 35, 70} {
				v := poolOf(c)
				v.C = channels
				t.Run(fmt.Sprint(name, " ", channels), func(t *testing.T) { testPoolingSingle(t, v) })
			}
		}
	})
}

// compareGated compares gradients that gates let pass with those of all, shut after them: x has
// maxima on the bounds.
func compareGated(t *testing.T, v *Pool, x, dy, all []float32) {
	t.Helper()
	for _, most := range []float32{2, float32(math.NaN())} {
		want, got := slices.Clone(all), make([]float32, len(x))
		for i, e := range x {
			if !(e > 0 && (most != most || e < most)) {
				want[i] = 0
			}
		}
		kernel.Fill(got, float32(math.NaN()))
		MaxPoolBack(kerneltest.Backwards, v, &Gate{most}, got, x, dy)
		if err := kerneltest.FarApart(got, want, 1e-6); err != "" {
			t.Errorf("gradient of the maximum below %v: %s", most, err)
		}
	}
}

// TestPoolingSingleWindows draws windows: they overlap, lie side by side or apart, with elements
// before, between or after them that none covers.
func TestPoolingSingleWindows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		apart, all := 0, 0
		for range 400 {
			v := &Pool{Batch: 1 + rng.IntN(3), C: 1 + rng.IntN(20)}
			tiled := rng.IntN(2) == 0
			for i := range v.In {
				v.Kernel[i], v.Stride[i], v.Dilation[i], v.Out[i] = 1+rng.IntN(3), 1+rng.IntN(4), 1+rng.IntN(2)*rng.IntN(2), 1+rng.IntN(3)
				if tiled {
					v.Stride[i], v.Dilation[i] = v.Kernel[i], 1
				}
				v.Pad[i] = rng.IntN(v.Kernel[i])
				v.In[i] = max(1, (v.Out[i]-1)*v.Stride[i]-v.Pad[i]+1+rng.IntN(v.Kernel[i]+1))
			}
			a, b := v.apart()
			if a {
				apart++
			}
			if b {
				all++
			}
			testPoolingSingle(t, v)
			if t.Failed() {
				t.Fatalf("%+v", v)
			}
		}
		if apart < 20 || all < 5 || apart == all {
			t.Errorf("windows lay apart %d times, and covered all %d times", apart, all)
		}
	})
}

func testPoolingSingle(t *testing.T, v *Pool) {
	rng := rand.New(rand.NewPCG(5, uint64(v.C)))
	x := make([]float32, v.Batch*v.LinesIn()*v.In[2]*v.C)
	for i := range x {
		x[i] = float32(rng.IntN(5) - 2) // with ties
	}
	dy := kerneltest.Random[float32](v.Batch*v.LinesOut()*v.Out[2]*v.C, 3)
	y, dx, arg := make([]float32, len(dy)), make([]float32, len(x)), make([]int64, len(dy))
	MaxPoolArg(kernel.Serial, v, arg, x)
	compareBytes(t, v, x, arg)
	want := make([]float32, len(x))
	MaxPoolGrad(kernel.Serial, v, want, dy, arg)
	kernel.Fill(dx, float32(math.NaN())) // all of it is written
	MaxPoolBack(kerneltest.Backwards, v, nil, dx, x, dy)
	if err := kerneltest.FarApart(dx, want, 1e-6); err != "" {
		t.Errorf("gradient of the maximum: %s", err)
	}
	compareGated(t, v, x, dy, want)
	for _, nan := range []bool{false, true} {
		if nan && len(x) > 0 {
			x[rng.IntN(len(x))] = float32(math.NaN())
		}
		MaxPool(kerneltest.Backwards, v, y, x)
		comparePooled(t, v, "maximum", y, x, func(e []float32) float32 {
			best := numeric.Lowest[float32]()
			for _, x := range e {
				if best = max(best, x); x != x { // max hides no NaN, either
					best = x
				}
			}
			return best
		})
		AvgPool(kerneltest.Backwards, v, y, x)
		comparePooled(t, v, "mean", y, x, func(e []float32) (mean float32) {
			for _, x := range e {
				mean += x / float32(len(e))
			}
			return mean
		})
	}
}

// compareBytes compares what is pooled of small whole numbers, as floats and as bytes, with what
// loops over float64 and int64 make of them.
func compareBytes(t *testing.T, v *Pool, x []float32, arg []int64) {
	t.Helper()
	wide, whole, b := make([]float64, len(x)), make([]int64, len(x)), make([]int8, len(x))
	for i, e := range x {
		wide[i], whole[i], b[i] = float64(e), int64(e), int8(e)
	}
	n := len(arg)
	want, most, means := make([]int64, n), make([]int64, n), make([]int64, n)
	if MaxPoolArg(kernel.Serial, v, want, wide); !slices.Equal(arg, want) {
		t.Fatal("the greatest are elsewhere in float32")
	}
	MaxPool(kernel.Serial, v, most, whole)
	AvgPoolWhole(kernel.Serial, v, means, whole)
	y, mean := make([]int8, n), make([]int8, n)
	MaxPool(kerneltest.Backwards, v, y, b)
	AvgPoolBytes(kerneltest.Backwards, v, mean, b)
	for i := range y {
		if int64(y[i]) != max(most[i], math.MinInt8) || int64(mean[i]) != means[i] {
			t.Fatalf("maximum and mean %d of bytes are %d and %d, want %d and %d", i, y[i], mean[i], most[i], means[i])
		}
	}
}

// comparePooled compares y with what f makes of the elements of each window.
func comparePooled(t *testing.T, v *Pool, what string, y, x []float32, f func(elements []float32) float32) {
	t.Helper()
	elements, want := make([][]float32, len(y)), make([]float32, len(y))
	eachPooled(v, func(y, i int) { elements[y] = append(elements[y], x[i]) })
	for i, e := range elements {
		want[i] = f(e)
		if (y[i] != y[i]) != (want[i] != want[i]) {
			t.Fatalf("%s %d: %v, want %v", what, i, y[i], want[i])
		}
		if want[i] != want[i] {
			y[i], want[i] = 0, 0
		}
	}
	if err := kerneltest.FarApart(y, want, 1e-5); err != "" {
		t.Errorf("%s: %s", what, err)
	}
}

// TestMaxPoolTies: the first of equal elements gets the gradient.
func TestMaxPoolTies(t *testing.T) {
	v := &Pool{Batch: 1, C: 1}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Out = [3]int{1, 2, 2}, [3]int{1, 2, 2}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}
	arg := make([]int64, 1)
	if MaxPoolArg(kernel.Serial, v, arg, []int32{3, 5, 5, 5}); arg[0] != 1 {
		t.Errorf("element %d was chosen, want 1", arg[0])
	}
}

// Sizes of windows are attributes, for which no memory is to be taken.
func TestHugeWindows(t *testing.T) {
	const huge = 1 << 30
	v := &Pool{Batch: 1, C: 1}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Out = [3]int{1, 1, 2}, [3]int{huge, huge, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 2}
	dx := make([]float64, 2)
	if AvgPoolGrad(kernel.Serial, v, dx, []float64{3, 4}); dx[0] != 3 || dx[1] != 4 {
		t.Errorf("gradients are %v, want 3 and 4", dx)
	}
}

// TestMaximumOfManyElements: the gradient of a window of more elements than float32 counts
// goes to one of them.
func TestMaximumOfManyElements(t *testing.T) {
	const n = 4097
	v := &Pool{Batch: 1, C: 1}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Out = [3]int{1, n, n}, [3]int{1, n, n}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}
	x, dx := make([]float32, n*n), make([]float32, n*n)
	const at = n*n - 5
	x[at] = 1
	MaxPoolBack(kernel.Serial, v, nil, dx, x, []float32{3})
	for i, d := range dx {
		if i == at && d != 3 || i != at && d != 0 {
			t.Fatalf("the gradient of element %d is %v, want 3 for %d alone", i, d, at)
		}
	}
}

// TestLinesWithoutElements: any number of images that have no channels, or no windows, are
// done at once.
func TestLinesWithoutElements(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, v := range []*Pool{{Batch: 1 << 50}, {Batch: 1 << 50, C: 1}} {
			v.In, v.Kernel, v.Stride, v.Dilation, v.Out = [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}
			if v.C > 0 {
				v.In[2], v.Out[2] = 0, 0
			}
			par := func(n, _ int, f func(lo, hi int)) {
				if n > 0 {
					t.Fatalf("%+v: %d lines have no elements", v, n)
				}
			}
			MaxPool[float32](par, v, nil, nil)
			MaxPool[int8](par, v, nil, nil)
			MaxPoolArg[float32](par, v, nil, nil)
			MaxPoolGrad[float32](par, v, nil, nil, nil)
			MaxPoolBack[float32](par, v, nil, nil, nil, nil)
			MaxPoolBack[float64](par, v, nil, nil, nil, nil)
			MaxPoolGather[float32](par, v, nil, nil, nil)
			MaxPoolSelect[float32](par, v, nil, nil, nil, nil)
			AvgPool[float32](par, v, nil, nil)
			AvgPool[float64](par, v, nil, nil)
			AvgPoolWhole[int32](par, v, nil, nil)
			AvgPoolGrad[float32](par, v, nil, nil)
		}
	})
}

// TestOverlappingWindows: lines are joined first where windows overlap much. The greatest of
// elements with NaN are where they are in float64.
func TestOverlappingWindows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, size := range [][3]int{{3, 3, 3}, {1, 5, 5}, {1, 3, 3}, {2, 2, 3}} {
			for _, stride := range []int{1, 2} {
				v := &Pool{Batch: 2, C: 7}
				v.In, v.Kernel, v.Dilation = [3]int{4, 6, 50}, size, [3]int{1, 1, 1}
				for i := range size {
					v.Stride[i], v.Pad[i] = stride, size[i]/2
					v.Out[i] = (v.In[i] + stride - 1) / stride
				}
				testPoolingSingle(t, v)
				x := kerneltest.Random[float32](v.Batch*v.LinesIn()*v.In[2]*v.C, 1)
				wide := make([]float64, len(x))
				for i := range x {
					if i%11 == 0 {
						x[i] = float32(math.NaN())
					}
					wide[i] = float64(x[i])
				}
				got, want := make([]int64, v.Batch*v.LinesOut()*v.Out[2]*v.C), make([]int64, v.Batch*v.LinesOut()*v.Out[2]*v.C)
				MaxPoolArg(kerneltest.Backwards, v, got, x)
				MaxPoolArg(kernel.Serial, v, want, wide)
				if !slices.Equal(got, want) {
					t.Errorf("windows of %v by %d: the greatest are elsewhere", size, stride)
				}
			}
		}
	})
}
