package elementwise

import (
	"math"
	"math/big"
	"testing"
)

// integerPower is x^n, rounded once.
func integerPower(x float64, n int) float64 {
	power, square := big.NewFloat(1).SetPrec(300), big.NewFloat(x).SetPrec(300)
	for k := max(n, -n); k > 0; k >>= 1 {
		if k&1 != 0 {
			power.Mul(power, square)
		}
		square.Mul(square, square)
	}
	if n < 0 {
		power.Quo(big.NewFloat(1).SetPrec(300), power)
	}
	z, _ := power.Float64()
	return z
}

// The error of a power does not grow with the exponent, as math.Pow's does: the
// last bound is that of an exponent near the end of the range.
func TestLongPowers(t *testing.T) {
	for _, c := range []struct {
		x float64
		n int
	}{
		{1.00001, 1_000_000}, {1.0001, 1_000_000}, {0.999, 500_000}, {-1.0001, 1_000_001}, {-0.9999, 2_000_000}, {1.0001, -1_000_000},
		{1 + 1e-9, 100_000_000}, {1.59, 1001}, {0.61, 1001}, {-1.3, 65}, {1, 1 << 40}, {-1, 1<<40 + 1}, {1.1, 1_000_000}, {0.9, 1_000_000},
	} {
		want, got := integerPower(c.x, c.n), powOf(c.x, float64(c.n))
		if math.Abs(got-want) > math.Abs(want)*1000*0x1p-52 || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("%v^%d = %v, want %v", c.x, c.n, got, want)
		}
	}
}

// What has no power, and what has one at infinity, is math.Pow's.
func TestLongPowersSpecial(t *testing.T) {
	for _, x := range []float64{1, -1, 1.5, -1.5, 0.7, -0.7} {
		for _, y := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300, 64.5, 1e6 + 0.5, 65} {
			want, got := math.Pow(x, y), powOf(x, y)
			if got != got != (want != want) || math.IsInf(got, 0) != math.IsInf(want, 0) || math.Signbit(got) != math.Signbit(want) && want == want {
				t.Errorf("%v^%v = %v, want %v", x, y, got, want)
			}
		}
	}
}
