package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// checkNear wants results that are those of double precision, but for the rounding and a little more.
func checkNear(t *testing.T, what string, x, got, want float64) {
	t.Helper()
	if g, w := float32(got), float32(want); !kerneltest.Same(g, w) && !(math.Abs(got-want) <= 0x1p-23*math.Abs(want)) {
		t.Fatalf("%s of %v is %v, want %v", what, x, got, want)
	}
}

func TestGamma(t *testing.T) {
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	exact := func(x float64) float64 { return math.NaN() }
	x := numbers32(20_000)
	for i := range 60 {
		v := float32(i-30) / 2
		x = append(x, v, math.Nextafter32(v, 100), math.Nextafter32(v, -100))
	}
	y, d := make([]float32, len(x)), make([]float32, len(x))
	kerneltest.EachLevel(t, func(t *testing.T) {
		LgammaLoop(lgamma)(y, x)
		DigammaLoop(exact)(d, x)
		for i, v := range x {
			checkNear(t, "the logarithm", float64(v), float64(y[i]), lgamma(float64(v)))
			if a := float64(v); a > 1e-3 && a < 1e6 { // of the logarithm's slope
				const h = 1e-4
				up, down := lgamma(a*(1+h)), lgamma(a*(1-h))
				if want := (up - down) / (2 * h * a); math.Abs(float64(d[i])-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("the derivative at %v is %v, want %v", v, d[i], want)
				}
			}
		}
		for n := range 70 { // each length, in place
			z := append([]float32{}, x[200:][:n+1]...)
			LgammaLoop(lgamma)(z[:n], z[:n])
			for i, v := range z[:n] {
				if !kerneltest.Same(v, y[200+i]) {
					t.Fatalf("element %d of %d is %v, want %v", i, n, v, y[200+i])
				}
			}
		}
	})
}

func TestPowerOf(t *testing.T) {
	for i, v := range kerneltest.Random[float64](20_000, 5) {
		x, y := math.Exp(10*v), float64(i%200-100)/7
		if got, want := PowerOf(x, y), math.Pow(x, y); math.Abs(got-want) > 0x1p-27*want {
			t.Fatalf("%v to the power of %v is %v, want %v", x, y, got, want)
		}
	}
}
