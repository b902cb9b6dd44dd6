package ops

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// TestMagnitudes: the loop of single precision rounds as double precision does, for
// parts of all sizes, infinite ones and what is not a number.
func TestMagnitudes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	parts := []float32{0, inf, -inf, nan, math.MaxFloat32, math.SmallestNonzeroFloat32, -3, 4}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		parts = append(parts, math.Float32frombits(rnd.Uint32()))
	}
	var x []complex64
	for _, re := range parts {
		for _, im := range parts {
			x = append(x, complex(re, im))
		}
	}
	y := make([]float32, len(x))
	magnitudes(y, x)
	for i, v := range x {
		want := float32(cmplx.Abs(complex128(v)))
		near := y[i] == want || math.Nextafter32(y[i], want) == want // two roundings of Hypot
		if !near && (y[i] == y[i] || want == want) {
			t.Fatalf("|%v| is %v, want %v", v, y[i], want)
		}
	}
}
