package numeric

import (
	"math"
	"testing"
)

// TestFloat8 writes every number as what it was, and what lies between two as
// the nearer one, the even one in the middle.
func TestFloat8(t *testing.T) {
	for name, f := range map[string]Float8{"e5m2": Float8E5M2, "e4m3fn": Float8E4M3FN} {
		for code := range 256 {
			v := float64(f.Decode(uint8(code)))
			if back := f.Encode(v); back != uint8(code) && !math.IsNaN(v) {
				t.Errorf("%s: %v is %#x, written %#x", name, v, code, back)
			}
			next := float64(f.Decode(uint8(code + 1)))
			if code&0x7f == 0x7f || math.IsNaN(v) || math.IsInf(next, 0) || math.IsNaN(next) {
				continue
			}
			even := uint8(code + code&1)
			for step, want := range map[float64]uint8{0.25: uint8(code), 0.5: even, 0.75: uint8(code + 1)} {
				if got := f.Encode(v + step*(next-v)); got != want {
					t.Errorf("%s: %v of the way from %v to %v is %#x, want %#x", name, step, v, next, got, want)
				}
			}
		}
	}
}

// TestFloat8Ends: what is beyond the greatest number is infinite, or NaN where
// nothing is.
func TestFloat8Ends(t *testing.T) {
	for _, c := range []struct {
		f    Float8
		v    float64
		want uint8
	}{
		{Float8E5M2, 1e9, 0x7c}, {Float8E5M2, -1e9, 0xfc}, {Float8E5M2, math.Inf(1), 0x7c}, {Float8E5M2, 61439, 0x7b},
		{Float8E5M2, 1e-9, 0}, {Float8E5M2, math.Copysign(0, -1), 0x80},
		{Float8E4M3FN, 464, 0x7e}, {Float8E4M3FN, 465, 0x7f}, {Float8E4M3FN, math.Inf(-1), 0xff},
	} {
		if got := c.f.Encode(c.v); got != c.want {
			t.Errorf("%v: %#x, want %#x", c.v, got, c.want)
		}
	}
}
