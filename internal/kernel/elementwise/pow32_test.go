package elementwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestPow32 compares powers with those of float64: of special numbers bit for bit,
// of others within the last bit, and nearly all without any difference.
func TestPow32(t *testing.T) {
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, inf, -inf, float32(math.NaN()), 1e-42, -1e-42, math.MaxFloat32, -2, 0.5, 3, 2.5, math.SmallestNonzeroFloat32, 1e30, 1e-30}
	for _, x := range special {
		for _, y := range special {
			comparePow(t, x, y, 0)
		}
	}
	off := 0
	for i := range 200_000 {
		x := math.Float32frombits(uint32(i)*2_654_435_761>>1%0x7f000000 + 0x00800000)
		limit := 150 / max(1e-3, math.Abs(math.Log2(float64(x))))
		y := float32(limit * (float64(uint32(i)*40_503%65_536)/32_768 - 1))
		off += comparePow(t, x, y, 1)
		near := 1 + float32(int32(i)-100_000)*0x1p-20
		off += comparePow(t, near, float32(uint32(i)*40_503%2_048)-1_024, 1)
	}
	if off > 400 {
		t.Errorf("%d of 400000 powers are not the nearest number", off)
	}
}

// comparePow returns by how many bits a power is off.
func comparePow(t *testing.T, x, y float32, most int) int {
	t.Helper()
	z := []float32{0}
	powers32(z, []float32{x}, []float32{y})
	want := float32(math.Pow(float64(x), float64(y)))
	if z[0] == want && math.Signbit(float64(z[0])) == math.Signbit(float64(want)) || z[0] != z[0] && want != want {
		return 0
	}
	d := int(math.Float32bits(z[0])) - int(math.Float32bits(want))
	if d = max(d, -d); d > most {
		t.Errorf("%v^%v is %v, want %v", x, y, z[0], want)
	}
	return d
}

// TestPow32Repeated: numbers that repeat have the powers they have alone.
func TestPow32Repeated(t *testing.T) {
	zero := float32(0)
	nan := float32(math.NaN())
	x, y := []float32{2, 2, 3, 3, 3, zero, -zero, float32(math.Copysign(0, -1)), nan, nan, 2}, []float32{3, 3, 3, 2, 2, -1, -1, -1, 0, 0, 3}
	z := make([]float32, len(x))
	powers32(z, x, y)
	for i := range z {
		if want := float32(math.Pow(float64(x[i]), float64(y[i]))); z[i] != want {
			t.Errorf("%v^%v is %v, want %v", x[i], y[i], z[i], want)
		}
	}
}

// TestPow32Vectors: powers by vectors have the bits of those in turn, whatever numbers are
// beside them.
func TestPow32Vectors(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 33, 100, 5000} {
			for _, unusual := range []int{0, 2, 100} {
				x, y := make([]float32, n), make([]float32, n)
				for i := range x {
					x[i], y[i] = powerOperands(rng, rng.IntN(200) < unusual)
				}
				want, got := make([]float32, n), make([]float32, n+20)
				powersInTurn(want, x, y)
				powers32(got[:n], x, y)
				for i, w := range want {
					if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
						t.Fatalf("%v^%v is %v beside %d others, alone %v", x[i], y[i], g, n-1, w)
					}
				}
				if slices.Max(got[n:]) != 0 {
					t.Fatalf("%d powers write behind them", n)
				}
				if powers32(x, x, y); n > 0 && math.Float32bits(x[0]) != math.Float32bits(got[0]) && got[0] == got[0] {
					t.Fatalf("in place the first is %v, want %v", x[0], got[0])
				}
			}
		}
	})
}

// powerOperands are numbers whose power is neither 0 nor infinite in most cases; unusual ones
// are any bits, or special numbers.
func powerOperands(rng *rand.Rand, unusual bool) (x, y float32) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, 3, 0.5, -0.5, 1e-42, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1 << 24, 1<<24 - 1, 1 << 25, math.MaxFloat32}
	switch {
	case unusual && rng.IntN(3) == 0:
		return math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
	case unusual:
		return special[rng.IntN(len(special))], special[rng.IntN(len(special))]
	}
	x = float32(math.Exp(rng.NormFloat64() * 10))
	y = float32(rng.NormFloat64() * 5)
	switch rng.IntN(4) {
	case 0:
		x, y = -x, float32(math.Round(float64(y)))
	case 1:
		x = [2]float32{0, -x}[rng.IntN(2)]
	}
	return x, y
}
