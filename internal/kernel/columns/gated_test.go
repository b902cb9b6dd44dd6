package columns

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestGatesOfInfinities: what a gate stops counts as a gradient of 0, which makes NaN of what is
// infinite, as it does in two steps.
func TestGatesOfInfinities(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	odd := []float32{inf, -inf, nan, 3e38, -3e38, 1, -1, 0}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, about := range []float32{0, inf, -inf, nan, 3e38, -3e38} {
			for _, most := range []float32{nan, 6} {
				testGateOfInfinities(t, odd, about, most)
			}
		}
	})
}

func testGateOfInfinities(t *testing.T, x []float32, about, most float32) {
	d := Down{Rows: 1, Stride: len(x), Width: len(x)}
	fill := func(v float32) []float32 {
		s := make([]float32, len(x))
		for i := range s {
			s[i] = v
		}
		return s
	}
	g := Gate{Factor: fill(1), Offset: fill(0), Most: most}
	dy, passed, means := fill(2), fill(2), fill(about)
	for i, v := range x {
		if y := (v - about) * 1; !(y > 0 && !(y >= most)) {
			passed[i] = 0
		}
	}
	sum, products, wantSum, wantProducts := fill(0), fill(0), fill(0), fill(0)
	GatedProducts(d, sum, products, dy, x, means, g)
	Products(d, wantSum, wantProducts, passed, x, means)
	z, want := fill(0), fill(0)
	GatedNormGrad(d, z, dy, x, means, fill(0.5), fill(0.25), g)
	NormGrad(d, want, passed, x, means, fill(0.5), fill(0.25), g.Factor)
	for i := range x {
		for k, v := range [][2]float32{{sum[i], wantSum[i]}, {products[i], wantProducts[i]}, {z[i], want[i]}} {
			if v[0] != v[1] && (v[0] == v[0] || v[1] == v[1]) {
				t.Errorf("x = %v, about = %v, most = %v: result %d is %v, want %v", x[i], about, most, k, v[0], v[1])
			}
		}
	}
}
