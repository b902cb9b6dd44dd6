package image

import (
	"math"
	"path"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/machine"
)

// someColors returns pixels, among them gray and equal ones and numbers that are not colors.
func someColors(pixels int, seed uint64) []float32 {
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40, 3e38, -3e38, 0.25}
	x := kerneltest.Random[float32](3*pixels, seed)
	for i := range x {
		x[i] = float32(math.Abs(float64(x[i])))
		switch i % 7 {
		case 2:
			x[i] = odd[(i/7+int(seed))%len(odd)]
		case 4:
			x[i] = x[i-1]
		case 5:
			x[i] = odd[i/7*5%len(odd)]
		}
	}
	return x
}

// TestColorLanes: machine code converts pixels to the bits of what defines it, in place, too.
func TestColorLanes(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append(kerneltest.Lengths, 5000) {
			x := someColors(n, uint64(n))
			compareColors(t, "RGBToHSV", x, inPlanes(toHSV), exactToHSV[float32])
			compareColors(t, "HSVToRGB", x, inPlanes(toRGB), exactToRGB[float32])
			for _, f := range odds {
				compareColors(t, "AdjustHue", x, fastHue(f), turnedHue(f))
				compareColors(t, "AdjustSaturation", x, fastSaturation(f), saturated(f))
			}
		}
	})
}

// odds are by how much hues are turned and saturations scaled.
var odds = []float32{0, 0.3, -0.3, 0.5, 1, -1, -2.75, 30000.1, -30000.1, 1e9, 1e-30, -1e-9, float32(math.NaN()), float32(math.Inf(1))}

func compareColors(t *testing.T, name string, x []float32, fast fastColor, f pixel[float32]) {
	t.Helper()
	want, got, inPlace := make([]float32, len(x)), make([]float32, len(x)), append([]float32(nil), x...)
	for i := 0; i < len(x); i += 3 {
		f(want[i:i+3], x[i:i+3])
	}
	convert(got, x, fast, f)
	convert(inPlace, inPlace, fast, f)
	for i := range want {
		for _, v := range []float32{got[i], inPlace[i]} {
			if math.Float32bits(v) != math.Float32bits(want[i]) && (v == v || want[i] == want[i]) {
				t.Fatalf("%s of %d pixels: color %d of %v is %v, want %v", name, len(x)/3, i%3, x[i/3*3:i/3*3+3], v, want[i])
			}
		}
	}
}

// TestColorsAreCompiled: registers suffice for all code of AVX-512. Those of AVX2 do for toRGB.
func TestColorsAreCompiled(t *testing.T) {
	if !machine.Available() {
		t.Skip("no machine code")
	}
	p := new(planes)
	kerneltest.EachLevel(t, func(t *testing.T) {
		all := []fastColor{inPlanes(toRGB), inPlanes(toHSV), fastHue(1), fastSaturation(1)}
		some := map[string]int{"avx512": 4, "avx2": 1}[path.Base(t.Name())]
		for i, fast := range all[:some] {
			if !fast(p, 16) {
				t.Errorf("%d has no machine code", i)
			}
		}
	})
}
