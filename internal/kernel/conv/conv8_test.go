package conv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
)

// randomBytes returns n random numbers of 8 bits.
func randomBytes[Q gemm.Byte](rnd *rand.Rand, n int, zero int32) gemm.Bytes[Q] {
	b := gemm.Bytes[Q]{Data: make([]Q, n), Zero: zero}
	for i := range b.Data {
		b.Data[i] = Q(rnd.Uint32())
	}
	return b
}

// TestConvolve8 has numbers that stand for 0 of which each needs wider sums.
func TestConvolve8(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 9))
	for name, v := range convCases() {
		for _, zero := range []int32{0, 3, -128, 255, 100_000, -2_000_000_000} {
			x := randomBytes[uint8](rnd, v.Batch*v.LinesIn()*v.In[2]*v.InC, zero)
			w := randomBytes[int8](rnd, v.Taps()*v.groupC()*v.OutC, 1)
			got := make([]int32, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
			want := make([]int32, len(got))
			eachProduct(v, func(i, j, k int) { want[i] += (int32(x.Data[j]) - x.Zero) * (int32(w.Data[k]) - w.Zero) })
			if Convolve8(kernel.Serial, v, got, x, w); !slices.Equal(got, want) {
				t.Errorf("%s of numbers from %d differs", name, zero)
			}
		}
	}
}
