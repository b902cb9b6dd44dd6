//go:build !noasm

package conv

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

// TestSmallBias: a bias that makes results subnormal gives the bits of an addition by itself, though
// the convolution takes such numbers for 0.
func TestSmallBias(t *testing.T) {
	window := sliding.Window{In: [3]int{1, 16, 16}, Out: [3]int{1, 16, 16}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 1, 1}}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, channels := range []int{1, 17, 64} {
			v := &Conv{Window: window, Batch: 8, InC: channels, OutC: 17, Groups: 1}
			checkSmallBias[float32](t, v, 0x1p-63, 0x1p-127)
			checkSmallBias[float64](t, v, 0x1p-511, 0x1p-1023)
		}
	})
}

func checkSmallBias[T float32 | float64](t *testing.T, v *Conv, size, small T) {
	x, w := kerneltest.Random[T](v.Batch*v.LinesIn()*v.In[2]*v.InC, 1), kerneltest.Random[T](v.Taps()*v.InC*v.OutC, 2)
	elementwise.MulScalar(x, x, size)
	elementwise.MulScalar(w, w, size)
	bias := kerneltest.Random[T](v.OutC, 3)
	elementwise.MulScalar(bias, bias, small)
	got, want := make([]T, v.Batch*v.LinesOut()*v.Out[2]*v.OutC), make([]T, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
	Convolve(kernel.Serial, v, want, x, w, gemm.Epilogue[T]{})
	for row := range slices.Chunk(want, v.OutC) {
		elementwise.Add(row, row, bias)
	}
	elementwise.Abs(want, want)
	Convolve(kernel.Serial, v, got, x, w, gemm.Epilogue[T]{Bias: bias, Activate: func(row []T) { elementwise.Abs(row, row) }})
	if !slices.Equal(got, want) {
		t.Errorf("%T, %d channels: another result with the bias than before it", small, v.InC)
	}
}
