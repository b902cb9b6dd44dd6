package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

func TestWidenedLoops(t *testing.T) {
	n := 2*widenBlock + 5
	x, y, z := make([]numeric.BFloat16, n), make([]numeric.BFloat16, n), make([]numeric.BFloat16, n)
	for i := range x {
		x[i], y[i] = numeric.BFloat16FromFloat32(float32(i%97)/8), numeric.BFloat16FromFloat32(float32(i%31)-15)
	}
	Widen2(z, x, y, Mul[float32])
	for i := range z {
		if want := numeric.BFloat16FromFloat32(x[i].Float32() * y[i].Float32()); z[i] != want {
			t.Fatalf("product %d is %v, want %v", i, z[i].Float32(), want.Float32())
		}
	}
	Widen1(z, x, Sqrt[float32])
	for i := range z {
		if want := numeric.BFloat16FromFloat32(float32(math.Sqrt(float64(x[i].Float32())))); z[i] != want {
			t.Fatalf("root %d is %v, want %v", i, z[i].Float32(), want.Float32())
		}
	}
	less := make([]bool, n)
	WidenTo(less, x, y, Less[float32])
	for i := range less {
		if want := x[i].Float32() < y[i].Float32(); less[i] != want {
			t.Fatalf("comparison %d is %v, want %v", i, less[i], want)
		}
	}
}

// TestHalvesConverted compares the conversions with those of single numbers: all numbers of 16 bits,
// and float32 whose lower bits are about those that rounding looks at.
func TestHalvesConverted(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		testHalves(t, numeric.Half.Float32, numeric.HalfFromFloat32)
		testHalves(t, numeric.BFloat16.Float32, numeric.BFloat16FromFloat32)
	})
}

func testHalves[H numeric.HalfFloat](t *testing.T, widen func(H) float32, narrow func(float32) H) {
	all := make([]H, 1<<16)
	for i := range all {
		all[i] = H(i)
	}
	for _, n := range append(kerneltest.Lengths, len(all)) {
		x := all[len(all)-n:]
		y, check := kerneltest.Guarded(n)
		Widen(y, x)
		check(t)
		for i, v := range y {
			if math.Float32bits(v) != math.Float32bits(widen(x[i])) {
				t.Fatalf("%T %#04x of %d is %v, want %v", x[i], uint16(x[i]), n, v, widen(x[i]))
			}
		}
	}
	for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0fff, 0x1000, 0x1001, 0x3000, 0xefff} {
		testNarrowed(t, low, narrow)
	}
}

// testNarrowed converts float32 of all upper halves and one lower half.
func testNarrowed[H numeric.HalfFloat](t *testing.T, low uint32, narrow func(float32) H) {
	x, y := make([]float32, 1<<16+7), make([]H, 1<<16+8)
	for i := range x {
		x[i] = math.Float32frombits(uint32(i)<<16 | low)
	}
	y[len(x)] = 12345
	Narrow(y[:len(x)], x)
	if y[len(x)] != 12345 {
		t.Error("wrote behind the slice")
	}
	for i, v := range x {
		if y[i] != narrow(v) {
			t.Fatalf("%#08x becomes %T %#04x, want %#04x", math.Float32bits(v), y[i], uint16(y[i]), uint16(narrow(v)))
		}
	}
}
