//go:build amd64 && !noasm

package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestCutsChangeNoBits: regions of C, however few rows they have, are summed up in the same order
// as all of C.
func TestCutsChangeNoBits(t *testing.T) {
	for _, level := range kernel.Levels() {
		switch level {
		case kernel.AVX512:
			checkCuts(t, &microF32AVX512)
		case kernel.AVX2:
			checkCuts(t, &microF32AVX2)
		}
	}
}

func checkCuts(t *testing.T, micro *microKernels[float32]) {
	t.Helper()
	b := newBlocked(micro, blockSizes{n: 2048, k: 96, cutK: 64, directK: 40, longK: 56, pagesK: 24, directA: 1 << 12, largeB: 1 << 20})
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		g := NewGemm(1+rng.IntN(60), 64*(1+rng.IntN(40)), 30+rng.IntN(200), rng.IntN(4) == 0, rng.IntN(4) == 0)
		x, y := kerneltest.Random[float32](g.M*g.K, 1), kerneltest.Random[float32](g.K*g.N, 2)
		got, want := make([]float32, g.M*g.N), make([]float32, g.M*g.N)
		direct := b.readsDirectly(g)
		whole := gemmWork[float32]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: new(packed[float32]), c: want, a: x, b: y}
		whole.compute(direct)
		for i := 0; i < g.M; {
			end := min(g.M, i+1+rng.IntN(8))
			part := gemmWork[float32]{blocked: b, Gemm: g, region: region{i, end, 0, g.N}, packed: new(packed[float32]), c: got, a: x, b: y}
			part.compute(direct)
			i = end
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: parts and the whole differ", g)
		}
	}
}
