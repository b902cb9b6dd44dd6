package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// poolOf turns the window of a convolution into one of a pooling.
func poolOf(v *Conv) *Pool { return &Pool{Window: v.Window, Batch: v.Batch, C: v.InC} }

// eachPooled calls f for each element that a window covers, the windows and
// their elements in order.
func eachPooled(v *Pool, f func(y, x int)) {
	c := &Conv{Window: v.Window, Batch: v.Batch, InC: v.C, OutC: v.C, Groups: v.C}
	eachProduct(c, func(y, x, _ int) { f(y, x) })
}

func TestPooling(t *testing.T) {
	for name, c := range convCases() {
		for how, par := range map[string]Par{"serial": Serial, "in pieces": inPieces} {
			t.Run(name+" "+how, func(t *testing.T) { testPooling(t, poolOf(c), par) })
		}
	}
}

func testPooling(t *testing.T, v *Pool, par Par) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := randomSlice[float64](rng, v.Batch*v.linesIn()*v.In[2]*v.C)
	dy := randomSlice[float64](rng, v.Batch*v.linesOut()*v.Out[2]*v.C)
	best, arg, n := make([]float64, len(dy)), make([]int, len(dy)), make([]float64, len(dy))
	mean := make([]float64, len(dy))
	Fill(best, Lowest[float64]())
	Fill(arg, -1)
	eachPooled(v, func(y, i int) {
		if n[y]++; x[i] > best[y] {
			best[y], arg[y] = x[i], i
		}
		mean[y] += x[i]
	})
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
		Fill(got, math.NaN())
		f(got[:len(want)])
		if err := farApart(got[:len(want)], want, 1e-12); err != "" {
			t.Errorf("%s: %s", what, err)
		}
	}
	check("maximum", best, func(dst []float64) { MaxPool(par, v, dst, x) })
	MaxPoolArg(par, v, at, x)
	check("gradient of the maximum", dxMax, func(dst []float64) { MaxPoolGrad(par, v, dst, dy, at) })
	check("chosen elements", chosen, func(dst []float64) { MaxPoolGather(par, v, dst, x, at) })
	check("mean", mean, func(dst []float64) { AvgPool(par, v, dst, x) })
	check("gradient of the mean", dxMean, func(dst []float64) { AvgPoolGrad(par, v, dst, dy) })
}

// TestMaxPoolTies: the first of equal elements gets the gradient.
func TestMaxPoolTies(t *testing.T) {
	v := &Pool{Batch: 1, C: 1}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Out = [3]int{1, 2, 2}, [3]int{1, 2, 2}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}
	arg := make([]int64, 1)
	if MaxPoolArg(Serial, v, arg, []int32{3, 5, 5, 5}); arg[0] != 1 {
		t.Errorf("element %d was chosen, want 1", arg[0])
	}
}
