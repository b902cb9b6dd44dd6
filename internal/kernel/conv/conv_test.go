package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// convCases are convolutions of every kind.
func convCases() map[string]*Conv {
	out := map[string]*Conv{}
	for name, v := range kerneltest.Windows() {
		out[name] = convOf(v)
	}
	one := [3]int{1, 1, 1}
	out["spaced"] = convOf(kerneltest.NewImages(3, 17, 130, 1, [3]int{2, 9, 8}, one, [3]int{2, 2, 3}, one, [3]int{}))
	out["spaced with padding"] = convOf(kerneltest.NewImages(2, 5, 128, 1, [3]int{1, 6, 7}, one, [3]int{1, 3, 2}, one, [3]int{0, 2, 1}))
	return out
}

func convOf(v *kerneltest.Images) *Conv {
	return &Conv{Window: v.Window, Batch: v.Batch, InC: v.InC, OutC: v.OutC, Groups: v.Groups}
}

func eachProduct(v *Conv, f func(y, x, w int)) {
	(&kerneltest.Images{Window: v.Window, Batch: v.Batch, InC: v.InC, OutC: v.OutC, Groups: v.Groups}).EachProduct(f)
}

func TestConvolution(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, v := range convCases() {
			for how, par := range map[string]kernel.Par{"serial": kernel.Serial, "in pieces": kerneltest.Backwards} {
				t.Run(name+" "+how, func(t *testing.T) {
					testConvolution[float32](t, v, par, 1e-4)
					testConvolution[float64](t, v, par, 1e-12)
				})
			}
		}
	})
}

// TestConvolutionsAtRandom draws sizes, strides, dilations, padding and groups
// at random.
func TestConvolutionsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var cases []*Conv
	for len(cases) < 40 {
		if v := randomConv(rng); min(v.Out[0], v.Out[1], v.Out[2]) > 0 {
			cases = append(cases, v)
		}
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, v := range cases {
			t.Run(fmt.Sprintf("%+v", *v), func(t *testing.T) { testConvolution[float32](t, v, kerneltest.Backwards, 1e-3) })
		}
	})
}

func randomConv(rng *rand.Rand) *Conv {
	upTo := func(d, h, w int) [3]int { return [3]int{1 + rng.IntN(d), 1 + rng.IntN(h), 1 + rng.IntN(w)} }
	groups := 1 + rng.IntN(2)*rng.IntN(3)
	pad := upTo(2, 4, 4)
	for i := range pad {
		pad[i]--
	}
	return convOf(kerneltest.NewImages(1+rng.IntN(2), groups*(1+rng.IntN(9)), groups*(1+rng.IntN(40)), groups,
		upTo(2, 7, 40), upTo(2, 3, 5), upTo(2, 3, 3), upTo(1, 2, 3), pad))
}

func testConvolution[T numeric.Float](t *testing.T, v *Conv, par kernel.Par, tol float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := kerneltest.RandomSlice[T](rng, v.Batch*v.LinesIn()*v.In[2]*v.InC)
	w := kerneltest.RandomSlice[T](rng, v.Taps()*v.groupC()*v.OutC)
	dy := kerneltest.RandomSlice[T](rng, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
	y, dx, dw := make([]T, len(dy)), make([]T, len(x)), make([]T, len(w))
	eachProduct(v, func(i, j, k int) {
		y[i] += x[j] * w[k]
		dx[j] += dy[i] * w[k]
		dw[k] += dy[i] * x[j]
	})
	got := make([]T, max(len(y), len(x), len(w)))
	check := func(what string, want []T, f func(dst []T)) {
		kernel.Fill(got, T(math.NaN()))
		f(got[:len(want)])
		if err := kerneltest.FarApart(got[:len(want)], want, tol); err != "" {
			t.Errorf("%s: %s", what, err)
		}
	}
	check("forward", y, func(dst []T) { Convolve(par, v, dst, x, w, gemm.Epilogue[T]{}) })
	// Elements that are in no stretch, or in two, get the wrong sign.
	check("in stretches", y, func(dst []T) {
		Convolve(par, v, dst, x, w, gemm.Epilogue[T]{Done: func(lo, hi int) { elementwise.Neg(dst[lo:hi], dst[lo:hi]) }})
		elementwise.Neg(dst, dst)
	})
	check("for the images", dx, func(dst []T) { ConvolveBackInput(par, v, dst, dy, w) })
	check("for the filters", dw, func(dst []T) { ConvolveBackFilter(par, v, dst, x, dy) })
}

// TestConvolutionEpilogue adds a bias and activates, in every way to compute.
func TestConvolutionEpilogue(t *testing.T) {
	for name, v := range convCases() {
		x := make([]float32, v.Batch*v.LinesIn()*v.In[2]*v.InC)
		w := make([]float32, v.Taps()*v.groupC()*v.OutC)
		y := make([]float32, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
		bias := make([]float32, v.OutC)
		for i := range bias {
			bias[i] = float32(i) - 1
		}
		Convolve(kernel.Serial, v, y, x, w, gemm.Epilogue[float32]{Bias: bias, Activate: func(row []float32) { elementwise.Relu(row, row) }})
		for i := range y {
			if want := max(0, bias[i%v.OutC]); y[i] != want {
				t.Fatalf("%s: element %d is %v, want %v", name, i, y[i], want)
			}
		}
	}
}
