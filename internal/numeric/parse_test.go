package numeric

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestParse compares with TensorFlow 2.21.
func TestParse(t *testing.T) {
	inf := math.Inf(1)
	for s, want := range map[string]float64{
		"1e400": inf, "-1e400": -inf, "1e40": inf, "1e-400": 0, "0x10": 16, "0X1p3": 8, "0x1.8": 1.5, "0x.8p1": 1, "+inf": inf, "-Infinity": -inf,
		"-.5": -0.5, "1.e5": 1e5, "\v1 ": 1, "1E1": 10,
	} {
		if got, ok := ParseFloat(s, 32); got != want || !ok {
			t.Errorf("%q: got %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"nan", "NAN", "-nan", "+nan", "nan()", "-NaN(a_Z9)"} {
		if got, ok := ParseFloat(s, 64); got == got || !ok {
			t.Errorf("%q: got %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "1_0", "0x_1p3", "0x", "0x1p", "1e", ".", "+-1", "1d5", "1f", "infinit", "1 2", "\u00a01", "--nan", "xnan", "nan(", "nan)", "nan(a b)", "nan()x", "--nan()"} {
		if got, ok := ParseFloat(s, 32); ok {
			t.Errorf("%q: got %v", s, got)
		}
	}
	for s, want := range map[string]bool{"+1": true, "-0": true, "\v1 ": true, "007": true, "": false, "1_0": false, "0x1": false, "1.0": false, "128": false, "\u00a01": false} {
		if _, ok := ParseInt(s, 8); ok != want {
			t.Errorf("%q: an integer %v, want %v", s, ok, want)
		}
	}
	for s, want := range map[string]bool{" +255": true, "-1": false, "256": false, "++1": false} {
		if _, ok := ParseUint(s, 8); ok != want {
			t.Errorf("%q: an unsigned integer %v, want %v", s, ok, want)
		}
	}
}

// TestShortNumbers compares random numbers of few digits with package strconv.
func TestShortNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		s := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		if rng.IntN(4) == 0 { // half way between two float32
			s = strconv.FormatUint((uint64(rng.Uint32N(1<<24))|1<<23)<<1|1, 10)
		}
		if at := rng.IntN(len(s) + 1); rng.IntN(3) > 0 {
			s = s[:at] + "." + s[at:]
		}
		if rng.IntN(2) == 0 {
			s = "-" + s
		}
		for _, bits := range []int{32, 64} {
			want, err := strconv.ParseFloat(s, bits)
			if got, ok := ParseFloat(s, bits); ok != (err == nil) || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%q in %d bits: %v, %t, want %v, %v", s, bits, got, ok, want, err)
			}
		}
	}
}
