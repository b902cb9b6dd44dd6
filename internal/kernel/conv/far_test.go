package conv

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// farCases are windows of which most lies outside of images, as attributes have them: they take
// no memory for what is there.
func farCases() map[string]*Conv {
	const far = 1 << 22
	one := [3]int{1, 1, 1}
	like := func(groups int, out, kernel, stride, dilation, pad [3]int) *Conv {
		v := &Conv{Batch: 2, InC: 6, OutC: 4, Groups: groups}
		v.In, v.Out, v.Kernel, v.Stride, v.Dilation, v.Pad = [3]int{1, 3, 4}, out, kernel, stride, dilation, pad
		return v
	}
	return map[string]*Conv{
		"nothing is seen": like(1, [3]int{1, 3, 4}, [3]int{1, 1, 2}, one, [3]int{1, 1, far}, [3]int{0, 0, far / 2}),
		"one tap sees":    like(1, [3]int{1, 3, 4}, [3]int{1, 3, 3}, one, [3]int{1, 1, far}, [3]int{0, 1, far}),
		"groups":          like(2, [3]int{1, 3, 4}, [3]int{1, 3, 3}, one, [3]int{1, far, far}, [3]int{0, far, far}),
		"strides":         like(1, [3]int{1, 2, 3}, [3]int{1, 2, 2}, [3]int{1, 1, far}, one, [3]int{0, 0, far}),
		"one window":      like(2, [3]int{1, 1, 1}, [3]int{1, 2, 2}, [3]int{1, far, far}, one, [3]int{}),
		"large filters":   like(1, [3]int{1, 1, 1}, [3]int{1, 1, 2000}, one, one, [3]int{0, 0, 1000}),
	}
}

func TestFarWindows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, v := range farCases() {
			t.Run(name, func(t *testing.T) {
				testConvolution[float32](t, v, kerneltest.Backwards, 1e-4)
				testConvolution[float64](t, v, kerneltest.Backwards, 1e-12)
			})
		}
	})
}

// TestFarWindowsTakeNoMemory counts what is allocated.
func TestFarWindowsTakeNoMemory(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, v := range farCases() {
			x, w := make([]float64, v.Batch*v.LinesIn()*v.In[2]*v.InC), make([]float64, v.Taps()*v.groupC()*v.OutC)
			y := make([]float64, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Convolve(kerneltest.Backwards, v, y, x, w, gemm.Epilogue[float64]{})
			ConvolveBackInput(kerneltest.Backwards, v, x, y, w)
			ConvolveBackFilter(kerneltest.Backwards, v, w, x, y)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%s: %d bytes are allocated", name, n)
			}
		}
	})
}
