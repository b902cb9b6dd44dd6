package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

func TestDilate(t *testing.T) {
	for _, v := range depthwiseCases() {
		x, w := waves(v.Batch*v.LinesIn()*v.In[2]*v.C), waves(v.Taps()*v.C)
		n := v.Batch * v.LinesOut() * v.Out[2] * v.C
		want, source := make([]float64, n), make([]DilationSource, n)
		kernel.Fill(want, numeric.Lowest[float64]())
		kernel.Fill(source, DilationSource{-1, -1})
		naiveDepthwise(&v, func(i, j, k int) {
			if sum := x[j] + w[k]; sum > want[i] {
				want[i], source[i] = sum, DilationSource{j, k}
			}
		})
		got, from := make([]float64, n), make([]DilationSource, n)
		Dilate(kernel.Serial, &v, got, x, w, from)
		for i := range want {
			if got[i] != want[i] || from[i] != source[i] {
				t.Fatalf("%d channels: result %d is %v of %v, want %v of %v", v.C, i, got[i], from[i], want[i], source[i])
			}
		}
	}
}

// TestDilateRuns: vector loops find what the plain loop does, bit for bit.
func TestDilateRuns(t *testing.T) {
	inf := float32(math.Inf(1))
	special := []float32{float32(math.NaN()), inf, -inf, 0, float32(math.Copysign(0, -1)), -math.MaxFloat32}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for i, v := range depthwiseCases() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			x, w := kerneltest.RandomSlice[float32](rng, v.Batch*v.LinesIn()*v.In[2]*v.C), kerneltest.RandomSlice[float32](rng, v.Taps()*v.C)
			for k := range special {
				x[rng.IntN(len(x))] = special[k]
			}
			w[rng.IntN(len(w))] = special[i%len(special)]
			got := make([]float32, v.Batch*v.LinesOut()*v.Out[2]*v.C)
			want := make([]float32, len(got))
			Dilate(kernel.Serial, &v, got, x, w, nil)
			for line := range v.Batch * v.LinesOut() {
				dilateLine(&v, line, want, x, w, nil)
			}
			for k := range want {
				if math.Float32bits(got[k]) != math.Float32bits(want[k]) {
					t.Fatalf("case %d: result %d is %v, want %v", i, k, got[k], want[k])
				}
			}
		}
	})
}
