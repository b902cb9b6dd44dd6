package elementwise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const exactBits = 400

func exact(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

// exactPower is x^(n/2^halves).
func exactPower(x float64, n, halves int) *big.Float {
	square, power := exact(math.Abs(x)), exact(1)
	for range halves {
		square.Sqrt(square)
	}
	for k := max(n, -n); k > 0; k >>= 1 {
		if k&1 != 0 {
			power.Mul(power, square)
		}
		square.Mul(square, square)
	}
	if n < 0 {
		power.Quo(exact(1), power)
	}
	if x < 0 && n&1 != 0 {
		power.Neg(power)
	}
	return power
}

// unitsOff is by how many units in the last place z is off.
func unitsOff(z float64, want *big.Float) float64 {
	near, _ := want.Float64()
	if math.IsInf(near, 0) || math.IsInf(z, 0) {
		if z == near {
			return 0
		}
		return math.Inf(1)
	}
	_, exponent := math.Frexp(near)
	off, _ := exact(z).Sub(exact(z), want).Float64()
	return math.Abs(math.Ldexp(off, 53-max(exponent, -1021)))
}

// TestLongPowers: the error of a power does not grow with the exponent, nor far from 1.
func TestLongPowers(t *testing.T) {
	for _, c := range []struct {
		x         float64
		n, halves int
	}{
		{1.00001, 1_000_000, 0}, {1.0001, 1_000_000, 0}, {0.999, 500_000, 0}, {-1.0001, 1_000_001, 0}, {-0.9999, 2_000_000, 0}, {1.0001, -1_000_000, 0},
		{1 + 1e-9, 100_000_000, 0}, {1.59, 1001, 0}, {0.61, 1001, 0}, {-1.3, 65, 0}, {1, 1 << 40, 0}, {-1, 1<<40 + 1, 0}, {1.1, 1_000_000, 0}, {0.9, 1_000_000, 0},
		{3, 600, 0}, {7.5, -351, 0}, {0.01, 161, 0}, {-1e5, 61, 0}, {1e300, 1, 0}, {-1e300, -1, 0}, {10, 308, 0}, {10, -323, 0}, {10, 309, 0}, {10, -324, 0},
		{2, 1023, 0}, {2, 1024, 0}, {-2, -1074, 0}, {2, -1075, 0}, {2, -1076, 0}, {5e-324, 1, 0}, {5e-324, 1, 2}, {5e-324, -1, 0}, {1e-310, -7, 3}, {math.MaxFloat64, 1, 1},
		{1.7976931348623157e308, 1023, 10}, {2.2250738585072014e-308, 1025, 10}, {3, -677, 0}, {3, -678, 0}, {1 - 0x1p-53, 1 << 30, 0}, {1 + 0x1p-52, 1<<62 + 1<<61, 0},
	} {
		want := exactPower(c.x, c.n, c.halves)
		got := powOf(c.x, math.Ldexp(float64(c.n), -c.halves))
		if off := unitsOff(got, want); !(off < 0.53) || math.Signbit(got) != want.Signbit() {
			t.Errorf("%v^(%d/2^%d) = %v, off by %.3f, want %v", c.x, c.n, c.halves, got, off, want)
		}
	}
}

// TestPowersAreExact draws numbers of all sizes, and near 1, and exponents up to where
// results end: what is off is little more than what rounding takes.
func TestPowersAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	worst := 0.0
	for i := range 20_000 {
		x := math.Float64frombits(r.Uint64N(0x7ff<<52-1) + 1)
		if i%2 == 0 {
			x = 1 + math.Ldexp(r.Float64()-0.5, -r.IntN(12))
		}
		halves := r.IntN(12)
		most := math.Ldexp(1080/math.Max(1e-9, math.Abs(math.Log2(x))), halves)
		n := int(min(most, 1<<52) * (2*r.Float64() - 1))
		y := math.Ldexp(float64(n), -halves)
		want := exactPower(x, n, halves)
		if off := unitsOff(powOf(x, y), want); off > worst || off != off {
			worst = off
			if !(off < 0.53) {
				t.Errorf("%v^%v = %v, off by %.3f", x, y, powOf(x, y), off)
			}
		}
	}
	t.Logf("off by at most %.4f units", worst)
}

// TestPowersSpecial: what is no number, infinite or 0, and the signs, are as in C.
func TestPowersSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -1.5, 0.7, -0.7, inf, -inf, nan, 1e300, -1e300, 64.5, 1e6 + 0.5, 65, 3, -3, 2, -2, 0.5, -0.5, 1<<53 + 2, 1<<53 - 1, 1e-320, -1e-320, math.MaxFloat64}
	for _, x := range numbers {
		for _, y := range numbers {
			want, got := math.Pow(x, y), powOf(x, y)
			if x != 0 && math.Abs(x) < leastNormal && y != math.Trunc(y) {
				continue // whose logarithm math.Pow has not
			}
			if got != got != (want != want) || math.IsInf(got, 0) != math.IsInf(want, 0) || math.Signbit(got) != math.Signbit(want) && want == want || (want == 0) != (got == 0) {
				t.Errorf("%v^%v = %v, want %v", x, y, got, want)
			}
		}
	}
}
