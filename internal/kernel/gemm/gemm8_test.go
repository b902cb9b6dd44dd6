package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// bytesOf returns n random numbers of 8 bits.
func bytesOf[Q Byte](rnd *rand.Rand, n int, zero int32) Bytes[Q] {
	b := Bytes[Q]{make([]Q, n), zero}
	for i := range b.Data {
		b.Data[i] = Q(rnd.Uint32())
	}
	return b
}

// zeros are numbers that stand for 0 of which each needs wider sums.
var zeros = []int32{0, 3, -128, 255, 100_000, -2_000_000_000}

func TestMatMul8(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 8))
	for _, zero := range zeros {
		for _, k := range []int{0, 1, 7, 300} {
			for trans := range 4 {
				g := NewGemm(5, 9, k, trans&1 != 0, trans&2 != 0)
				checkMatMul8(t, g, bytesOf[uint8](rnd, 5*k, zero), bytesOf[uint8](rnd, 9*k, 128))
				checkMatMul8(t, g, bytesOf[int8](rnd, 5*k, zero), bytesOf[uint8](rnd, 9*k, zero))
				checkMatMul8(t, g, bytesOf[uint8](rnd, 5*k, -3), bytesOf[int8](rnd, 9*k, zero))
			}
		}
	}
}

func checkMatMul8[A, B Byte](t *testing.T, g Gemm, a Bytes[A], b Bytes[B]) {
	t.Helper()
	got, want := make([]int32, g.M*g.N), make([]int32, g.M*g.N)
	MatMul8(kernel.Serial, g, got, a, b)
	matMul8Naive(g, want, a, b)
	if !slices.Equal(got, want) {
		t.Errorf("%+v of numbers from %d and %d differs from the naive product", g, a.Zero, b.Zero)
	}
}
