//go:build !noasm

package conv

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

// TestVanishedGradients: products and convolutions take subnormal gradients for 0, as TensorFlow's do.
func TestVanishedGradients(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, f := range vanishing() {
			dy, w, dx := kerneltest.Random[float32](16*16*16*16, 1), kerneltest.Random[float32](16*16*16*16, 2), make([]float32, 16*16*16*16)
			for i := range dy {
				dy[i] *= 1e-40
			}
			f(dx, dy, w)
			for i, x := range dx {
				if x != 0 {
					t.Fatalf("%s: element %d is %v, want 0", name, i, x)
				}
			}
		}
	})
}

// vanishing are those of a large matrix or an image that is given second.
func vanishing() map[string]func(dx, dy, w []float32) {
	window := sliding.Window{In: [3]int{1, 16, 16}, Out: [3]int{1, 16, 16}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 1, 1}}
	v := &Conv{Window: window, Batch: 16, InC: 16, OutC: 16, Groups: 1}
	d := &Depthwise{Window: window, Batch: 16, C: 16}
	product := func(m, n, k int, ta, tb bool) func(c, a, b []float32) {
		return func(c, a, b []float32) {
			gemm.MatMul(kernel.Serial, gemm.NewGemm(m, n, k, ta, tb), c, a, b, gemm.Epilogue[float32]{})
		}
	}
	return map[string]func(dx, dy, w []float32){
		"product":                         product(256, 256, 256, false, false),
		"product of transposed matrices":  product(256, 256, 256, true, true),
		"small product":                   product(64, 32, 64, false, false),
		"product with a vector":           product(256, 1, 256, false, false),
		"product of a row":                product(1, 256, 256, false, true),
		"row by a large matrix":           product(1, 256, 256, false, false),
		"convolution":                     func(y, x, w []float32) { Convolve(kernel.Serial, v, y, x, w, gemm.Epilogue[float32]{}) },
		"gradient for images":             func(dx, dy, w []float32) { ConvolveBackInput(kernel.Serial, v, dx, dy, w) },
		"gradient for filters":            func(dw, dy, x []float32) { ConvolveBackFilter(kernel.Serial, v, dw, x, dy) },
		"depthwise convolution":           func(y, x, w []float32) { DepthwiseConvolve(kernel.Serial, d, y, x, w, gemm.Epilogue[float32]{}) },
		"depthwise, gradient for images":  func(dx, dy, w []float32) { DepthwiseBackInput(kernel.Serial, d, dx, dy, w) },
		"depthwise, gradient for filters": func(dw, dy, x []float32) { DepthwiseBackFilter(kernel.Serial, d, dw, x, dy) },
	}
}
