package reduction

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestProd compares products of float32 with those of float64, for numbers of elements with and
// without vector loops and with what is left over by them.
func TestProd(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		f := ProdFold[float32]()
		for _, n := range append(kerneltest.Lengths, 2*prodLanes-1, 2*prodLanes, 2*prodLanes+1, 3*prodLanes, 1024, 1279) {
			x, want := kerneltest.Random[float32](n, 1), 1.0
			for i := range x {
				x[i] = 1 + x[i]/64
				want *= float64(x[i])
			}
			if got := float64(f.Run(x)); math.Abs(got-want) > 1e-7*float64(n+1)*want {
				t.Errorf("the product of %d numbers is %v, want %v", n, got, want)
			}
			for _, odd := range []float64{0, math.Inf(-1), math.NaN()} {
				if n > 0 {
					x[n-1] = float32(odd)
					if got := f.Run(x); !kerneltest.Same(got, x[n-1]) {
						t.Errorf("with %v among %d numbers the product is %v", odd, n, got)
					}
				}
			}
		}
	})
}
