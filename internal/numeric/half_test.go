package numeric

import (
	"math"
	"testing"
)

// halfValue is the value of a Half by the definition of the format.
func halfValue(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, frac := int(h>>10&31), float64(h&1023)
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return sign * math.Ldexp(frac, -24)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

func TestHalfToFloat32(t *testing.T) {
	for h := range 1 << 16 {
		got, want := Half(h).Float32(), float32(halfValue(uint16(h)))
		if got != want && (got == got || want == want) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
		if back := HalfFromFloat32(got); back != Half(h) && got == got {
			t.Fatalf("%#04x comes back as %#04x", h, back)
		}
	}
}

// TestHalfRounding looks at the middle between neighbours and beside it.
func TestHalfRounding(t *testing.T) {
	for h := range 0x7c00 {
		lo, hi := halfValue(uint16(h)), halfValue(uint16(h+1))
		if h+1 == 0x7c00 {
			hi = 65536 // what infinity stands for when rounding
		}
		mid := float32((lo + hi) / 2)
		even := Half(h + h&1)
		for _, c := range []struct {
			in   float32
			want Half
		}{
			{mid, even}, {math.Nextafter32(mid, 0), Half(h)}, {math.Nextafter32(mid, math.MaxFloat32), Half(h + 1)},
		} {
			if got := HalfFromFloat32(c.in); got != c.want {
				t.Fatalf("%v becomes %#04x, want %#04x", c.in, got, c.want)
			}
			if got := HalfFromFloat32(-c.in); got != c.want|0x8000 {
				t.Fatalf("%v becomes %#04x, want %#04x", -c.in, got, c.want|0x8000)
			}
		}
	}
}

func TestHalfCorners(t *testing.T) {
	for _, c := range []struct {
		in   float32
		want Half
	}{
		{0, 0}, {float32(math.Copysign(0, -1)), 0x8000}, {float32(math.Inf(1)), 0x7c00}, {float32(math.Inf(-1)), 0xfc00}, {65504, 0x7bff}, {65519.996, 0x7bff}, {65520, 0x7c00},
		{1e-8, 0}, {5.9604645e-8, 1}, {2.9802322e-8, 0}, {2.9802326e-8, 1}, {math.SmallestNonzeroFloat32, 0},
	} {
		if got := HalfFromFloat32(c.in); got != c.want {
			t.Errorf("%v becomes %#04x, want %#04x", c.in, got, c.want)
		}
	}
	if got := HalfFromFloat32(float32(math.NaN())).Float32(); got == got {
		t.Errorf("NaN becomes %v", got)
	}
}

func TestBFloat16(t *testing.T) {
	for b := range 1 << 16 {
		f := BFloat16(b).Float32()
		if f != f {
			if g := BFloat16FromFloat32(f).Float32(); g == g {
				t.Fatalf("NaN %#04x becomes %v", b, g)
			}
			continue
		}
		if back := BFloat16FromFloat32(f); back != BFloat16(b) {
			t.Fatalf("%#04x comes back as %#04x", b, back)
		}
	}
	for _, c := range []struct{ in, want uint32 }{
		{0x3f808000, 0x3f80}, {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82}, {0x3f817fff, 0x3f81},
		{0x7f7fffff, 0x7f80}, {0x7f800001, 0x7fc0}, {0x80000001, 0x8000},
	} {
		if got := BFloat16FromFloat32(math.Float32frombits(c.in)); uint32(got) != c.want {
			t.Errorf("%#08x becomes %#04x, want %#04x", c.in, got, c.want)
		}
	}
}
