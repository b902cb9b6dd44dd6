package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestRelu6Grad compares the loop for float32 with the rule, bit by bit, for
// random bits and the values at which the rule turns, and in place of either operand.
func TestRelu6Grad(t *testing.T) { kerneltest.EachLevel(t, checkRelu6Grad) }

func checkRelu6Grad(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	edges := []float32{0, float32(math.Copysign(0, -1)), 6, math.Nextafter32(6, 0), math.Nextafter32(6, 7), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, inf, -inf, nan}
	for _, n := range []int{0, 1, 7, 16, 1023, 1024, 1025, 5000} {
		x, dy, want := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], dy[i] = 8*r.Float32()-1, math.Float32frombits(r.Uint32())
			if r.IntN(3) == 0 {
				x[i] = edges[r.IntN(len(edges))]
			}
		}
		for i, v := range x {
			if v > 0 && v < 6 {
				want[i] = dy[i]
			}
		}
		apart, overX, overDY := make([]float32, n), append([]float32(nil), x...), append([]float32(nil), dy...)
		Relu6Grad(apart, dy, x)
		Relu6Grad(overX, dy, overX)
		Relu6Grad(overDY, overDY, x)
		for name, got := range map[string][]float32{"apart": apart, "over x": overX, "over dy": overDY} {
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%d values, %s: of dy %v and x %v at %d it is %v, want %v", n, name, dy[i], x[i], i, got[i], want[i])
				}
			}
		}
	}
}
