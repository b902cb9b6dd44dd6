package ops

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSingles compares functions for results in single precision with those of double precision.
func TestSingles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(what string, x, y, got, want float64) {
		if !(math.Abs(got-want) <= 0x1p-26*math.Abs(want)) && got != want && !(got != got && want != want) {
			t.Fatalf("%s of %v and %v is %v, want %v", what, x, y, got, want)
		}
	}
	special := []float64{0, -1, -1.5, 1, 2, 3, 0.5, 30, 1e-3, 1024, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 8, 9}
	for i := range 30_000 {
		n, x, q := float64(i%10), 1+math.Exp(8*r.Float64()-5), math.Exp(16*r.Float64()-8)
		check("zeta", x, q, zetaSingle(x, q), zeta(x, q))
		check("zeta", n, q, zetaSingle(n, q), zeta(n, q))
		check("polygamma", n, q, polygammaSingle(n, q), polygamma(n, q))
	}
	for _, x := range special {
		for _, y := range special {
			check("zeta", x, y, zetaSingle(x, y), zeta(x, y))
			check("polygamma", x, y, polygammaSingle(x, y), polygamma(x, y))
		}
	}
}
