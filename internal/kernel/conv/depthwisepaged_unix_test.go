//go:build unix

package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestDepthwiseNothingOutside: tiles neither read nor write beyond their operands.
func TestDepthwiseNothingOutside(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for i := range 60 {
			v, atEnd := randomTiled(r), i%2 == 0
			x := kerneltest.Paged[float32](t, v.Batch*v.LinesIn()*v.In[2]*v.C, atEnd)
			y := kerneltest.Paged[float32](t, v.Batch*v.LinesOut()*v.Out[2]*v.C, atEnd)
			w := kerneltest.Paged[float32](t, v.Taps()*v.C, atEnd)
			DepthwiseConvolve(kerneltest.Pieces, &v, y, x, w, gemm.Epilogue[float32]{})
			DepthwiseBackInput(kerneltest.Pieces, &v, x, y, w)
		}
	})
}
