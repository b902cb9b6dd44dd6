//go:build unix

package conv

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestNothingOutside: convolutions and their gradients neither read nor write beyond their operands.
func TestNothingOutside(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, w := range kerneltest.Windows() {
			v := &Conv{Window: w.Window, Batch: w.Batch, InC: w.InC, OutC: w.OutC, Groups: w.Groups}
			for _, atEnd := range []bool{false, true} {
				t.Run(name, func(t *testing.T) { convolvePaged(t, v, atEnd) })
			}
		}
	})
}

func convolvePaged(t *testing.T, v *Conv, atEnd bool) {
	images, results, filters := v.Batch*v.LinesIn()*v.In[2]*v.InC, v.Batch*v.LinesOut()*v.Out[2]*v.OutC, v.Taps()*v.groupC()*v.OutC
	x, y, w := kerneltest.Paged[float32](t, images, atEnd), kerneltest.Paged[float32](t, results, atEnd), kerneltest.Paged[float32](t, filters, atEnd)
	Convolve(kerneltest.Pieces, v, y, x, w, gemm.Epilogue[float32]{Bias: kerneltest.Paged[float32](t, v.OutC, atEnd)})
	ConvolveBackFilter(kerneltest.Pieces, v, w, x, y)
	ConvolveBackInput(kerneltest.Pieces, v, x, y, w)
}
