package numeric

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAppendFixed(t *testing.T) {
	same := func(v float64, digits int) {
		t.Helper()
		got, want := AppendFixed([]byte("x"), v, digits), strconv.AppendFloat([]byte("x"), v, 'f', digits, 64)
		if string(got) != string(want) {
			t.Fatalf("%v (%x) with %d digits: got %s, want %s", v, math.Float64bits(v), digits, got, want)
		}
	}
	for digits := range mostDigits + 3 {
		for _, v := range []float64{0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -0.5, 1e-5, 5e-7, 1e22, 1 << 52, 1<<53 - 1, 1 << 63, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1), math.NaN()} {
			same(v, digits)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		digits := r.IntN(mostDigits + 2)
		same(math.Float64frombits(r.Uint64()), digits)
		same(float64(float32(r.NormFloat64())), digits)
		same(math.Ldexp(r.Float64()-0.5, r.IntN(160)-110), digits)
		same(math.Ldexp(float64(r.IntN(1<<12)), r.IntN(40)-30), digits) // often halfway between two
	}
}
