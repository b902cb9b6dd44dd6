package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

// naiveDepthwise calls f for every product of a convolution by channels, by
// the element of the results, the images and the filter.
func naiveDepthwise(v *Depthwise, f func(y, x, w int)) {
	for n := range v.Batch {
		for oh := range v.Out[1] {
			for ow := range v.Out[2] {
				for kh := range v.Kernel[1] {
					for kw := range v.Kernel[2] {
						h, w := oh*v.Stride[1]-v.Pad[1]+kh*v.Dilation[1], ow*v.Stride[2]-v.Pad[2]+kw*v.Dilation[2]
						if h < 0 || w < 0 || h >= v.In[1] || w >= v.In[2] {
							continue
						}
						for c := range v.C {
							f(((n*v.Out[1]+oh)*v.Out[2]+ow)*v.C+c, ((n*v.In[1]+h)*v.In[2]+w)*v.C+c, (kh*v.Kernel[2]+kw)*v.C+c)
						}
					}
				}
			}
		}
	}
}

func depthwiseCases() []Depthwise {
	var all []Depthwise
	for _, c := range []int{1, 3, 40, 1500} {
		for _, stride := range []int{1, 2} {
			for _, dilation := range []int{1, 2} {
				w := sliding.Window{In: [3]int{1, 7, 9}, Kernel: [3]int{1, 3, 2}, Stride: [3]int{1, stride, stride}, Dilation: [3]int{1, dilation, dilation}, Pad: [3]int{0, 1, 2}}
				w.Out = [3]int{1, (7+2-2*dilation-1)/stride + 1, (9+4-dilation-1)/stride + 1}
				all = append(all, Depthwise{Window: w, Batch: 2, C: c})
			}
		}
	}
	return all
}

func TestDepthwise(t *testing.T) {
	for _, v := range depthwiseCases() {
		t.Run(fmt.Sprintf("%d channels, stride %d, dilation %d", v.C, v.Stride[1], v.Dilation[1]), func(t *testing.T) {
			x, w := waves(v.Batch*v.LinesIn()*v.In[2]*v.C), waves(v.Taps()*v.C)
			dy := waves(v.Batch * v.LinesOut() * v.Out[2] * v.C)
			y, dx, dw := make([]float64, len(dy)), make([]float64, len(x)), make([]float64, len(w))
			naiveDepthwise(&v, func(i, j, k int) {
				y[i] += x[j] * w[k]
				dx[j] += dy[i] * w[k]
				dw[k] += dy[i] * x[j]
			})
			gotY, gotX, gotW := make([]float64, len(y)), make([]float64, len(dx)), make([]float64, len(dw))
			DepthwiseConvolve(kernel.Serial, &v, gotY, x, w, gemm.Epilogue[float64]{})
			DepthwiseBackInput(kernel.Serial, &v, gotX, dy, w)
			DepthwiseBackFilter(kernel.Serial, &v, gotW, x, dy)
			sameWithin(t, "results", gotY, y)
			sameWithin(t, "gradient for the images", gotX, dx)
			sameWithin(t, "gradient for the filter", gotW, dw)
		})
	}
}

// TestDepthwiseVectors compares all levels of instructions, and threads, with sums in
// double precision.
func TestDepthwiseVectors(t *testing.T) {
	defer kernel.Use(kernel.Levels()[0])
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		v := randomDepthwise(r)
		x, w, dy := randomFloats(r, v.Batch*v.LinesIn()*v.In[2]*v.C), randomFloats(r, v.Taps()*v.C), randomFloats(r, v.Batch*v.LinesOut()*v.Out[2]*v.C)
		y, dx, dw := make([]float64, len(dy)), make([]float64, len(x)), make([]float64, len(w))
		naiveDepthwise(&v, func(i, j, k int) {
			y[i] += float64(x[j]) * float64(w[k])
			dx[j] += float64(dy[i]) * float64(w[k])
			dw[k] += float64(dy[i]) * float64(x[j])
		})
		for _, level := range kernel.Levels() {
			kernel.Use(level)
			what := fmt.Sprintf("%s: %+v", level, v)
			gotY, gotX, gotW := runDepthwise(kernel.Serial, &v, x, w, dy)
			nearTo(t, what+": results", gotY, y)
			nearTo(t, what+": gradient for the images", gotX, dx)
			nearTo(t, what+": gradient for the filter", gotW, dw)
			halfY, halfX, halfW := runDepthwise(inHalves, &v, x, w, dy)
			if !slices.Equal(gotY, halfY) || !slices.Equal(gotX, halfX) || !slices.Equal(gotW, halfW) {
				t.Fatalf("%s: other bits in two parts", what)
			}
		}
	}
}

// inHalves divides work in two.
func inHalves(n, _ int, f func(lo, hi int)) {
	f(n/2, n)
	f(0, n/2)
}

// runDepthwise returns all three results, computed into memory that holds something.
func runDepthwise(par kernel.Par, v *Depthwise, x, w, dy []float32) (y, dx, dw []float32) {
	y, dx, dw = make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
	for _, s := range [][]float32{y, dx, dw} {
		kernel.Fill(s, float32(math.NaN()))
	}
	DepthwiseConvolve(par, v, y, x, w, gemm.Epilogue[float32]{Done: func(lo, hi int) { elementwise.Neg(y[lo:hi], y[lo:hi]) }})
	elementwise.Neg(y, y) // what is in no stretch, or in two, gets the wrong sign
	DepthwiseBackInput(par, v, dx, dy, w)
	DepthwiseBackFilter(par, v, dw, x, dy)
	return y, dx, dw
}

// randomDepthwise returns a convolution of any strides, dilations and pads, some of
// which are wider than the images.
func randomDepthwise(r *rand.Rand) Depthwise {
	v := Depthwise{Batch: 1 + r.IntN(3), C: []int{1, 2, 3, 7, 16, 17, 40, 64, 100, 130, 300}[r.IntN(11)]}
	v.In[0], v.Out[0], v.Kernel[0], v.Stride[0], v.Dilation[0] = 1, 1, 1, 1, 1
	for i := 1; i < 3; i++ {
		most := 12
		if i == 2 && v.C < narrowChannels { // several vectors of pixels side by side
			most = 12 + 200/v.C*r.IntN(2)
		}
		v.In[i], v.Kernel[i], v.Stride[i], v.Dilation[i], v.Pad[i] = 1+r.IntN(most), 1+r.IntN(5), 1+r.IntN(3), 1+r.IntN(3), r.IntN(5)
		v.Out[i] = max(0, v.In[i]+2*v.Pad[i]-(v.Kernel[i]-1)*v.Dilation[i]-1)/v.Stride[i] + 1
	}
	return v
}

func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 2*r.Float32() - 1
	}
	return x
}

func nearTo(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= 1e-5) { // at most some 400 products
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func waves(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i) * 1.7)
	}
	return x
}

func sameWithin(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestRepeatAndFoldChannels(t *testing.T) {
	y := make([]int, 6)
	RepeatChannels(kernel.Serial, y, []int{1, 2}, 3)
	if got, want := fmt.Sprint(y), "[1 1 1 2 2 2]"; got != want {
		t.Errorf("repeated: %s, want %s", got, want)
	}
	z := make([]int32, 2)
	FoldChannels(kernel.Serial, z, []int32{1, 2, 3, 4, 5, 6}, 3)
	if got, want := fmt.Sprint(z), "[6 15]"; got != want {
		t.Errorf("folded: %s, want %s", got, want)
	}
}

// TestRepeatChannels repeats channels of all small numbers, in two parts.
func TestRepeatChannels(t *testing.T) {
	inTwo := func(n, _ int, f func(lo, hi int)) { f(0, n/3); f(n/3, n) }
	for n := 1; n < 5; n++ {
		for length := range 20 {
			x, y := make([]float32, length), make([]float32, length*n)
			for i := range x {
				x[i] = float32(i + 1)
			}
			RepeatChannels(inTwo, y, x, n)
			for i, v := range y {
				if v != x[i/n] {
					t.Fatalf("%d channels, each %d times: element %d is %v, want %v", length, n, i, v, x[i/n])
				}
			}
		}
	}
}
