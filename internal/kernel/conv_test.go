package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachProduct calls f for every product of a convolution: the positions of a
// result, an image's element and a filter's.
func eachProduct(v *Conv, f func(y, x, w int)) {
	outer := []int{v.Batch, v.Out[0], v.Out[1], v.Out[2], v.OutC, v.Kernel[0], v.Kernel[1], v.Kernel[2], v.groupC()}
	eachIndex(outer, func(_ int, at []int) {
		p := at[0]
		for i := range 3 {
			pos := at[1+i]*v.Stride[i] - v.Pad[i] + at[5+i]*v.Dilation[i]
			if pos < 0 || pos >= v.In[i] {
				return
			}
			p = p*v.In[i] + pos
		}
		y := (((at[0]*v.Out[0]+at[1])*v.Out[1]+at[2])*v.Out[2]+at[3])*v.OutC + at[4]
		w := (((at[5]*v.Kernel[1]+at[6])*v.Kernel[2]+at[7])*v.groupC()+at[8])*v.OutC + at[4]
		f(y, p*v.InC+at[4]/v.groupOut()*v.groupC()+at[8], w)
	})
}

// conv describes a convolution with the same padding on both sides.
func conv(batch, in, out, groups int, size, kernel, stride, dilation, pad [3]int) *Conv {
	v := &Conv{Batch: batch, InC: in, OutC: out, Groups: groups}
	v.In, v.Kernel, v.Stride, v.Dilation, v.Pad = size, kernel, stride, dilation, pad
	for i := range 3 {
		v.Out[i] = (size[i]+2*pad[i]-(kernel[i]-1)*dilation[i]-1)/stride[i] + 1
	}
	return v
}

// convCases are convolutions of every kind.
func convCases() map[string]*Conv {
	one := [3]int{1, 1, 1}
	return map[string]*Conv{
		"pointwise":        conv(2, 5, 7, 1, [3]int{1, 4, 3}, one, one, one, [3]int{}),
		"narrow":           conv(2, 1, 8, 1, [3]int{1, 9, 7}, [3]int{1, 5, 5}, one, one, [3]int{0, 2, 2}),
		"thin, dilated":    conv(2, 1, 3, 1, [3]int{1, 8, 9}, [3]int{1, 3, 4}, [3]int{1, 2, 1}, [3]int{1, 1, 2}, [3]int{0, 1, 3}),
		"thin, far out":    conv(1, 1, 3, 1, [3]int{2, 3, 2}, [3]int{2, 2, 2}, one, one, [3]int{1, 3, 5}),
		"wide":             conv(2, 20, 33, 1, [3]int{1, 6, 17}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"not padded":       conv(1, 18, 5, 1, [3]int{1, 6, 8}, [3]int{1, 3, 2}, one, one, [3]int{}),
		"strides":          conv(2, 17, 6, 1, [3]int{1, 9, 10}, [3]int{1, 3, 3}, [3]int{1, 2, 3}, one, [3]int{0, 1, 1}),
		"wide strides":     conv(2, 3, 6, 1, [3]int{1, 9, 10}, [3]int{1, 1, 2}, [3]int{1, 3, 4}, one, [3]int{}),
		"dilated":          conv(1, 17, 4, 1, [3]int{1, 9, 9}, [3]int{1, 3, 3}, one, [3]int{1, 2, 3}, [3]int{0, 2, 3}),
		"narrow, dilated":  conv(1, 2, 4, 1, [3]int{1, 9, 9}, [3]int{1, 3, 3}, one, [3]int{1, 2, 3}, [3]int{0, 2, 3}),
		"groups":           conv(2, 6, 9, 3, [3]int{1, 5, 6}, [3]int{1, 3, 3}, [3]int{1, 2, 1}, one, [3]int{0, 1, 1}),
		"volumes":          conv(2, 6, 4, 1, [3]int{4, 5, 6}, [3]int{2, 3, 3}, [3]int{2, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}),
		"much padding":     conv(1, 17, 2, 1, [3]int{1, 3, 3}, [3]int{1, 2, 2}, one, one, [3]int{0, 4, 4}),
		"narrow, far out":  conv(1, 2, 2, 1, [3]int{1, 2, 2}, [3]int{1, 2, 2}, [3]int{1, 2, 2}, one, [3]int{0, 5, 5}),
		"many images":      conv(6, 17, 33, 1, [3]int{1, 6, 6}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"many filters":     conv(1, 363, 363, 1, [3]int{1, 1, 3}, [3]int{1, 1, 2}, one, one, [3]int{0, 0, 1}),
		"long sums":        conv(1, 100, 17, 1, [3]int{1, 3, 16}, [3]int{1, 3, 3}, one, one, [3]int{0, 1, 1}),
		"many windows":     conv(3, 2, 3, 1, [3]int{2, 30, 30}, [3]int{1, 2, 2}, one, one, [3]int{0, 1, 1}),
		"many lines":       conv(5, 3, 9, 1, [3]int{1, 40, 15}, [3]int{1, 5, 3}, [3]int{1, 2, 1}, one, [3]int{0, 1, 1}),
		"stem":             conv(2, 3, 16, 1, [3]int{1, 11, 37}, [3]int{1, 7, 7}, [3]int{1, 2, 2}, one, [3]int{0, 3, 3}),
		"thin and long":    conv(1, 1, 20, 1, [3]int{1, 2, 45}, [3]int{1, 3, 5}, one, one, [3]int{0, 1, 2}),
		"groups, strides":  conv(2, 8, 10, 2, [3]int{1, 5, 7}, [3]int{1, 2, 3}, [3]int{1, 1, 2}, one, [3]int{0, 1, 1}),
		"image of nothing": conv(0, 17, 2, 1, [3]int{1, 3, 3}, [3]int{1, 2, 2}, one, one, [3]int{}),
	}
}

func TestConvolution(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for name, v := range convCases() {
			for how, par := range map[string]Par{"serial": Serial, "in pieces": inPieces} {
				t.Run(name+" "+how, func(t *testing.T) {
					testConvolution[float32](t, v, par, 1e-4)
					testConvolution[float64](t, v, par, 1e-12)
				})
			}
		}
	})
}

// TestConvolutionsAtRandom has sizes, strides, dilations, padding and groups
// that nobody thought of.
func TestConvolutionsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var cases []*Conv
	for len(cases) < 40 {
		if v := randomConv(rng); min(v.Out[0], v.Out[1], v.Out[2]) > 0 {
			cases = append(cases, v)
		}
	}
	eachLevel(t, func(t *testing.T) {
		for _, v := range cases {
			t.Run(fmt.Sprintf("%+v", *v), func(t *testing.T) { testConvolution[float32](t, v, inPieces, 1e-3) })
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
	return conv(1+rng.IntN(2), groups*(1+rng.IntN(9)), groups*(1+rng.IntN(40)), groups,
		upTo(2, 7, 40), upTo(2, 3, 5), upTo(2, 3, 3), upTo(1, 2, 3), pad)
}

// inPieces runs each element of a range by itself, the last one first.
func inPieces(n, _ int, f func(lo, hi int)) {
	for i := n - 1; i >= 0; i-- {
		f(i, i+1)
	}
}

func randomSlice[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func testConvolution[T Float](t *testing.T, v *Conv, par Par, tol float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := randomSlice[T](rng, v.Batch*v.linesIn()*v.In[2]*v.InC)
	w := randomSlice[T](rng, v.taps()*v.groupC()*v.OutC)
	dy := randomSlice[T](rng, v.Batch*v.linesOut()*v.Out[2]*v.OutC)
	y, dx, dw := make([]T, len(dy)), make([]T, len(x)), make([]T, len(w))
	eachProduct(v, func(i, j, k int) {
		y[i] += x[j] * w[k]
		dx[j] += dy[i] * w[k]
		dw[k] += dy[i] * x[j]
	})
	got := make([]T, max(len(y), len(x), len(w)))
	check := func(what string, want []T, f func(dst []T)) {
		Fill(got, T(math.NaN()))
		f(got[:len(want)])
		if err := farApart(got[:len(want)], want, tol); err != "" {
			t.Errorf("%s: %s", what, err)
		}
	}
	check("forward", y, func(dst []T) { Convolve(par, v, dst, x, w, Epilogue[T]{}) })
	check("for the images", dx, func(dst []T) { ConvolveBackInput(par, v, dst, dy, w) })
	check("for the filters", dw, func(dst []T) { ConvolveBackFilter(par, v, dst, x, dy) })
}

func farApart[T Float](got, want []T, tol float64) string {
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); got[i] != want[i] && !(d <= tol*max(1, math.Abs(float64(want[i])))) {
			return fmt.Sprintf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}

// TestConvolutionEpilogue adds a bias and activates, in every way to compute.
func TestConvolutionEpilogue(t *testing.T) {
	for name, v := range convCases() {
		x := make([]float32, v.Batch*v.linesIn()*v.In[2]*v.InC)
		w := make([]float32, v.taps()*v.groupC()*v.OutC)
		y := make([]float32, v.Batch*v.linesOut()*v.Out[2]*v.OutC)
		bias := make([]float32, v.OutC)
		for i := range bias {
			bias[i] = float32(i) - 1
		}
		Convolve(Serial, v, y, x, w, Epilogue[float32]{Bias: bias, Activate: func(row []float32) { Relu(row, row) }})
		for i := range y {
			if want := max(0, bias[i%v.OutC]); y[i] != want {
				t.Fatalf("%s: element %d is %v, want %v", name, i, y[i], want)
			}
		}
	}
}
