package image

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCutToHalf: the short way rounds as the conversion does, at the ends of its range,
// at ties and at random bits.
func TestCutToHalf(t *testing.T) {
	check := func(b uint32) {
		if !halfIsNormal(b) {
			return
		}
		if got, want := cutToHalf(b), roundToHalf(b); got != want {
			t.Fatalf("%v (%#x) is rounded to %#x, want %#x", math.Float32frombits(b), b, got, want)
		}
	}
	if x := math.Float32bits(1); !halfIsNormal(x) || !halfIsNormal(x|1<<31) {
		t.Error("1 must be in the range of float16")
	}
	for exponent := range uint32(256) {
		for _, fraction := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fefff, 0x7ff000, 0x7fffff} {
			check(exponent<<23 | fraction)
			check(1<<31 | exponent<<23 | fraction)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1 << 20 {
		check(r.Uint32())
	}
}
