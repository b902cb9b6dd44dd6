package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/machine"
)

// specials are where operations change what they do.
var specials = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 0.50000006, 2, 255, 256, -129, 2147483648, -2147483904, 1e30, -1e30, 1e-20,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}

// mixed returns numbers of about that size, with specials among them.
func mixed(n int, seed uint64, size float32) []float32 {
	x := kerneltest.Random[float32](n, seed)
	for i := range x {
		if x[i] *= size; i%5 == 2 {
			x[i] = specials[(i/5+int(seed)*7)%len(specials)]
		}
	}
	return x
}

// withAndWithout calls f with machine code and without it, and compares the bits.
func withAndWithout(t *testing.T, name string, n int, f func() []float32) {
	t.Helper()
	got := f()
	machine.Use(false)
	want := f()
	machine.Use(true)
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s of %d elements: [%d] is %v, want %v as in Go", name, n, i, got[i], want[i])
		}
	}
}

// TestCompiled: machine code gives the bits of the loops that define it, in place and not.
func TestCompiled(t *testing.T) {
	maps := map[string]func(y, x []float32){
		"Softsign": CompiledMap(SoftsignLanes, Softsign[float32]), "Asin": Asin32, "Acos": Acos32, "argument of Atanh": atanhArgument, "scaled Elu": scaleElu,
		"clipped":  func(y, x []float32) { ClipTo(y, x, -0.25, 0.5) },
		"empty":    func(y, x []float32) { ClipTo(y, x, 0.5, -0.25) },
		"by zeros": func(y, x []float32) { ClipTo(y, x, 0, float32(math.Copysign(0, -1))) },
		"by NaN":   func(y, x []float32) { ClipTo(y, x, float32(math.NaN()), 0.5) },
		"bytes": func(y, x []float32) {
			b := make([]uint8, len(x))
			Cast(b, x)
			Cast(y, b)
		},
		"signed bytes": func(y, x []float32) {
			b, w := make([]int8, len(x)), make([]int32, len(x))
			Cast(b, x)
			Cast(y, b)
			Cast(w, x)
			Cast(b, w)
			for i, v := range b {
				y[i] += 1000 * float32(v)
			}
		},
		"bools": func(y, x []float32) {
			b := make([]bool, len(x))
			Cast(b, x)
			Cast(y, b)
		},
	}
	zips := map[string]func(z, x, y []float32){
		"SoftsignGrad": CompiledZip(SoftsignGradLanes, SoftsignGrad[float32]), "EluGrad": CompiledZip(EluGradLanes, EluGrad[float32]),
		"SeluGrad": CompiledZip(SeluGradLanes, SeluGrad[float32]), "DivNoNan": DivNoNan32, "Xdivy": Xdivy32, "mulNoZero": mulNoZero, "halfWithSign": halfWithSign,
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append(kerneltest.Lengths, 3000, machine.MaxElements+17) {
			x, y := mixed(n, 1, 1), mixed(n, 2, 300)
			for name, f := range maps {
				withAndWithout(t, name, n, func() []float32 { z := make([]float32, n); f(z, x); return z })
				withAndWithout(t, name+" in place", n, func() []float32 { z := append([]float32(nil), y...); f(z, z); return z })
			}
			for name, f := range zips {
				withAndWithout(t, name, n, func() []float32 { z := make([]float32, n); f(z, x, y); return z })
				withAndWithout(t, name+" in place", n, func() []float32 { z := append([]float32(nil), x...); f(z, z, y); return z })
				withAndWithout(t, name+" in the second's place", n, func() []float32 { z := append([]float32(nil), y...); f(z, x, z); return z })
			}
		}
	})
}

// TestInBlocks compares what is made of several loops with float64, in place, too.
func TestInBlocks(t *testing.T) {
	ops := map[string]struct {
		f    func(z, x, y []float32)
		want func(x, y float64) float64
	}{
		"Selu": {func(z, x, _ []float32) { Selu32(z, x) }, func(x, _ float64) float64 {
			if x < 0 {
				return SeluAlpha * math.Expm1(x)
			}
			return SeluScale * x
		}},
		"Asin":         {func(z, x, _ []float32) { Asin32(z, x) }, func(x, _ float64) float64 { return AsinOf(x) }},
		"Acos":         {func(z, x, _ []float32) { Acos32(z, x) }, func(x, _ float64) float64 { return AcosOf(x) }},
		"Atanh":        {func(z, x, _ []float32) { Atanh32(z, x) }, func(x, _ float64) float64 { return math.Atanh(x) }},
		"SoftplusGrad": {SoftplusGrad32, func(d, x float64) float64 { return d / (math.Exp(-x) + 1) }},
		"FloorDiv":     {FloorDiv32, func(x, y float64) float64 { return math.Floor(float64(float32(x) / float32(y))) }},
		"TimesLog": {func(z, x, y []float32) { TimesLog(Log[float32], z, x, y) }, func(x, y float64) float64 {
			if x == 0 {
				return x
			}
			return x * math.Log(y)
		}},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		x, y := mixed(5000, 3, 1), mixed(5000, 4, 20)
		for name, op := range ops {
			z := append([]float32(nil), x...)
			op.f(z, z, y)
			for i := range z {
				want := op.want(float64(x[i]), float64(y[i]))
				same := float64(z[i]) == want && math.Signbit(float64(z[i])) == math.Signbit(want) || z[i] != z[i] && want != want
				tiny := math.Abs(want) < 1e-30 && math.Abs(float64(z[i])) < 1e-30 || want > math.MaxFloat32 && z[i] > math.MaxFloat32 || want < -math.MaxFloat32 && z[i] < -math.MaxFloat32
				if !same && !tiny && !(math.Abs(float64(z[i])-want) <= 5.0/(1<<23)*math.Abs(want)) {
					t.Errorf("%s of %v and %v is %v, want %v", name, x[i], y[i], z[i], want)
				}
			}
		}
	})
}
