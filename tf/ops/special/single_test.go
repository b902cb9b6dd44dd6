package special

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSingles compares functions for results in single precision with those of double precision.
func TestSingles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(what string, a, x, got, want float64) {
		if !(math.Abs(got-want) <= 0x1p-25*math.Abs(want)) && float32(got) != float32(want) && !(what == "igammac" && math.Abs(got-want) < 1e-14) && !(got != got && want != want) {
			t.Fatalf("%s of %v and %v is %v, want %v", what, a, x, got, want)
		}
	}
	special := []float64{0, -1, -1.5, 1, 2, 3, 0.5, 30, 1e-3, 1e-40, 1024, 1e7, 1e8, 1e30, math.Inf(1), math.Inf(-1), math.NaN(), 16, 9}
	both := func(a, x float64) {
		check("igamma", a, x, igammaSingle(a, x), igamma(a, x))
		check("igammac", a, x, igammacSingle(a, x), igammac(a, x))
		y := x / (x + 1)
		check("betainc", a, y, betaincSingle(a, x, y), betainc(a, x, y))
		check("betainc", a, y, betaincSingle(x, a, y), betainc(x, a, y))
	}
	for range 30_000 {
		a := math.Exp(10*r.Float64() - 5)
		both(a, a*math.Exp(3*r.Float64()-1.5))
		both(a, math.Exp(10*r.Float64()-5))
		both(20*r.Float64(), 20*r.Float64())
	}
	for _, a := range special {
		for _, x := range special {
			both(a, x)
		}
	}
}
