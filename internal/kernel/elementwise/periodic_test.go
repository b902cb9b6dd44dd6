package elementwise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// allSizes returns numbers of all exponents and signs, those near multiples of π/4, and
// special ones.
func allSizes(r *rand.Rand) []float32 {
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.SmallestNonzeroFloat32,
		-math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, 1, -1, 0.5, -0.5, 65535.996, 65536, -65536, 65543, 2.5, -1.5, 8388609, 0.49999997}
	for e := range 255 {
		for range 40 {
			x = append(x, math.Float32frombits(r.Uint32()&(1<<31|1<<23-1)|uint32(e)<<23))
		}
	}
	for n := range 3000 {
		v := float32(float64(r.IntN(83000)) * math.Pi / 4)
		x = append(x, v, math.Nextafter32(v, 0), float32(float64(n)*math.Pi/4))
	}
	return x
}

// ulps returns how far got is from want, in units in the last place of float32. Signs of
// zeros count.
func ulps(got float32, want float64) float64 {
	switch w := float32(want); {
	case got == w && math.Signbit(float64(got)) == math.Signbit(want), got != got && want != want:
		return 0
	case math.IsInf(want, 0) || math.IsInf(float64(w), 0) || got != got || want != want || got == w:
		return math.Inf(1)
	default:
		next := math.Abs(float64(math.Nextafter32(w, float32(math.Inf(1)))) - float64(w))
		return math.Abs(float64(got)-want) / next
	}
}

func onEachLevel(t *testing.T, f func(t *testing.T)) {
	defer kernel.Use(kernel.Levels()[0])
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		t.Run(fmt.Sprint(l), f)
	}
}

// TestFunctions compares with float64, in place and not.
func TestFunctions(t *testing.T) {
	cases := []struct {
		name string
		loop func(y, x []float32)
		f    func(float64) float64
		most float64
	}{
		{"expm1", Expm1[float32], math.Expm1, 2}, {"elu", Elu[float32], elu, 2},
		{"sin", Sin[float32], math.Sin, 1.5}, {"cos", Cos[float32], math.Cos, 1.5}, {"atan", Atan[float32], math.Atan, 1.5},
		{"floor", Floor[float32], math.Floor, 0}, {"ceil", Ceil[float32], math.Ceil, 0}, {"round", Round[float32], math.RoundToEven, 0},
	}
	x := allSizes(rand.New(rand.NewPCG(1, 2)))
	onEachLevel(t, func(t *testing.T) {
		for _, c := range cases {
			y, in := make([]float32, len(x)), append([]float32(nil), x...)
			c.loop(y, x)
			c.loop(in, in)
			for i, v := range x {
				if math.Float32bits(y[i]) != math.Float32bits(in[i]) {
					t.Fatalf("%s(%v) is %v, %v in place", c.name, v, y[i], in[i])
				}
				if got := ulps(y[i], c.f(float64(v))); got > c.most {
					t.Fatalf("%s(%v) is %v, want %v within %v units in the last place, off by %v", c.name, v, y[i], c.f(float64(v)), c.most, got)
				}
			}
		}
	})
}

// TestAtan2 compares with float64: pairs of all sizes and special numbers.
func TestAtan2(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := allSizes(r)
	var y, x []float32
	for _, a := range some[:21] {
		for _, b := range some[:21] {
			y, x = append(y, a), append(x, b)
		}
	}
	for range 20000 {
		a := some[r.IntN(len(some))]
		b := a * float32(r.NormFloat64())
		y, x = append(y, a, float32(r.NormFloat64())), append(x, b, float32(r.NormFloat64()))
	}
	onEachLevel(t, func(t *testing.T) {
		z := make([]float32, len(x))
		Atan2(z, y, x)
		for i := range z {
			want := Atan2Of(float64(y[i]), float64(x[i]))
			if math.Abs(want) < 1e-38 && math.Abs(float64(z[i])-want) < 1e-44 {
				continue // a quotient that is subnormal
			}
			if got := ulps(z[i], want); got > 1.5 {
				t.Fatalf("atan2(%v, %v) is %v, want %v, off by %v units in the last place", y[i], x[i], z[i], want, got)
			}
		}
	})
}

// TestTails: numbers of all lengths, and nothing is written behind them.
func TestTails(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for n := range 70 {
			x, y := make([]float32, n), make([]float32, n+20)
			for i := range x {
				x[i] = float32(i) - 30
			}
			Sin(y[:n], x)
			for i, v := range y {
				if i < n && ulps(v, math.Sin(float64(x[i]))) > 1.5 || i >= n && v != 0 {
					t.Fatalf("of %d numbers, number %d is %v", n, i, v)
				}
			}
		}
	})
}
