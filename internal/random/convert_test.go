package random

import (
	"math"
	"testing"
)

// halfValue is what 16 bits mean as a half.
func halfValue(h uint16) float64 {
	sign, exp, frac := 1-2*float64(h>>15), int(h>>10&31), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * frac * 0x1p-24
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1+frac/1024, exp-15)
}

// TestHalfRoundsToNearest checks every half and what lies half-way between it
// and its neighbour, and just beside that.
func TestHalfRoundsToNearest(t *testing.T) {
	for h := range uint16(0x7c00) {
		low, high := halfValue(h), halfValue(h+1)
		if h == 0x7bff {
			high = 65536 // rounds as if there were one more
		}
		even := h + h&1
		for _, tc := range []struct {
			f    float32
			want uint16
		}{
			{float32(low), h},
			{float32((low + high) / 2), even},
			{math.Nextafter32(float32((low+high)/2), 0), h},
			{math.Nextafter32(float32((low+high)/2), 1e9), h + 1},
		} {
			if got := halfFrom(tc.f); got != tc.want {
				t.Fatalf("%v becomes %04x, want %04x", tc.f, got, tc.want)
			}
			if got := halfFrom(-tc.f); got != tc.want|0x8000 {
				t.Fatalf("%v becomes %04x, want %04x", -tc.f, got, tc.want|0x8000)
			}
		}
	}
}

func TestHalfOfSpecials(t *testing.T) {
	for _, tc := range []struct {
		f    float64
		want uint16
	}{
		{math.Inf(1), 0x7c00},
		{math.Inf(-1), 0xfc00},
		{math.MaxFloat32, 0x7c00},
		{math.Copysign(0, -1), 0x8000},
	} {
		if got := halfFrom(float32(tc.f)); got != tc.want {
			t.Errorf("%v becomes %04x, want %04x", tc.f, got, tc.want)
		}
	}
	if got := halfFrom(float32(math.NaN())); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("NaN becomes %04x", got)
	}
}

func TestBFloat16RoundsToNearest(t *testing.T) {
	for b := uint32(0); b < 0x7f80; b += 7 {
		for _, tc := range []struct{ add, want uint32 }{
			{0, b}, {0x7fff, b}, {0x8000, b + b&1}, {0x8001, b + 1}, {0xffff, b + 1},
		} {
			f := math.Float32frombits(b<<16 + tc.add)
			if got := bfloat16From(f); uint32(got) != tc.want {
				t.Fatalf("%v becomes %04x, want %04x", f, got, tc.want)
			}
			if got := bfloat16From(-f); uint32(got) != tc.want|0x8000 {
				t.Fatalf("%v becomes %04x, want %04x", -f, got, tc.want|0x8000)
			}
		}
	}
}

// TestLibmIsAccurate compares with Go's float64 functions: the recipes promise
// less than one unit in the last place.
func TestLibmIsAccurate(t *testing.T) {
	w := NewWords(New(5, 6))
	for range 200000 {
		u := max(float32From(w.Next()), 1e-7)
		checkUlp(t, "logf", u, logf(u), math.Log(float64(u)))
		y := float32(2 * math.Pi * float64(float32From(w.Next())))
		sin, cos := sincosf(y)
		checkUlp(t, "sinf", y, sin, math.Sin(float64(y)))
		checkUlp(t, "cosf", y, cos, math.Cos(float64(y)))
	}
	for _, x := range []float32{1, 1e-7, 0x1p-126, math.MaxFloat32, math.Nextafter32(1, 0)} {
		checkUlp(t, "logf", x, logf(x), math.Log(float64(x)))
	}
}

// checkUlp allows one unit in the last place of the exact value, and what
// reducing the angle costs near a zero of the function.
func checkUlp(t *testing.T, name string, x, got float32, exact float64) {
	t.Helper()
	unit := float64(math.Nextafter32(float32(math.Abs(exact)), math.MaxFloat32)) - float64(float32(math.Abs(exact)))
	if d := math.Abs(float64(got) - exact); d > unit+1e-15 {
		t.Fatalf("%s(%v) = %v, want %v within %v", name, x, got, exact, unit)
	}
}
