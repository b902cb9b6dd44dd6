package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// plainNorms is what setNorms computes, as it is defined.
func (a *lrnAttrs) plainNorms(n []float64, x []float32) {
	for i := range x {
		sum := 0.0
		for _, v := range x[max(0, i-a.radius):min(len(x), i+a.radius+1)] {
			sum += float64(v) * float64(v)
		}
		n[i] = float64(a.bias) + float64(a.alpha)*sum
	}
}

// plainBack is what back computes of a pixel, as it is defined: every result
// gives back to those around it.
func (a *lrnAttrs) plainBack(dx []float64, dy, x, y []float32, norm []float64) {
	for j, n := range norm {
		share := -2 * float64(a.alpha) * float64(a.beta) * float64(y[j]) / n
		for i := max(0, j-a.radius); i < min(len(x), j+a.radius+1); i++ {
			d := share * float64(x[i])
			if i == j {
				d += math.Pow(n, -float64(a.beta))
			}
			dx[i] += d * float64(dy[j])
		}
	}
}

func likePlain(got float32, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return math.IsNaN(float64(got)) == math.IsNaN(want) && (math.IsNaN(want) || float64(got) == want)
	}
	return math.Abs(float64(got)-want) <= 4e-6*(1+math.Abs(want))
}

func TestLRNBlock(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, a := range []lrnAttrs{{5, 1, 1, 0.5}, {0, 1, 0.5, 0.75}, {2, 2, 1, 1}, {100, 1, 0.1, 0.5}, {1 << 31, 1, 1, 2}} {
			for _, depth := range []int{1, 2, 3, 5, 11, 12, 64} {
				testLRNBlock(t, &a, depth, 7)
			}
		}
	})
}

func testLRNBlock(t *testing.T, a *lrnAttrs, depth, pixels int) {
	rng := rand.New(rand.NewPCG(uint64(depth), uint64(a.radius)))
	var in [3][]float32
	for k := range in {
		in[k] = kerneltest.RandomSlice[float32](rng, depth*pixels)
	}
	x, y, dy := in[0], in[1], in[2]
	x[depth], x[2*depth] = float32(math.Inf(1)), float32(math.NaN())
	b := newLRNBlock(a, depth, pixels)
	dx, norms := make([]float32, len(x)), make([]float32, len(x))
	b.back(dx, dy, x, y)
	b.setNorms(norms, x)
	for p := range pixels {
		lo, hi := p*depth, (p+1)*depth
		norm, want := make([]float64, depth), make([]float64, depth)
		a.plainNorms(norm, x[lo:hi])
		a.plainBack(want, dy[lo:hi], x[lo:hi], y[lo:hi], norm)
		for i := range want {
			if !likePlain(norms[lo+i]/16, norm[i]/16) || !likePlain(dx[lo+i], want[i]) {
				t.Fatalf("%v, %d channels, pixel %d, channel %d: norm %v, want %v; gradient %v, want %v", *a, depth, p, i, norms[lo+i], norm[i], dx[lo+i], want[i])
			}
		}
	}
}
