package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// numbers32 are special numbers and n random ones of several sizes.
func numbers32(n int) []float32 {
	x := append([]float32{}, kerneltest.Corner...)
	for i, v := range kerneltest.Random[float32](n, 11) {
		x = append(x, []float32{v, 10 * v, 100 * v, float32(math.Exp(80 * float64(v))), 1 - v/64, 1e-3 * v}[i%6])
	}
	return x
}

// checkPlain wants a loop to have the bits of the function that defines it, for each length and in place.
func checkPlain(t *testing.T, what string, loop func(y, x []float32), want func(x float32) float32) {
	t.Helper()
	all := numbers32(3000)
	for _, n := range append([]int{len(all)}, kerneltest.Lengths...) {
		n = min(n, len(all))
		x := all[len(all)-n:]
		y := append(append([]float32{}, x...), 7)
		loop(y[:n], y[:n])
		for i, v := range x {
			if w := want(v); !kerneltest.Same(y[i], w) {
				t.Fatalf("%s of %v, element %d of %d, is %v, want %v", what, v, i, n, y[i], w)
			}
		}
		if y[n] != 7 {
			t.Fatalf("%s changes what lies beyond its %d elements", what, n)
		}
	}
}

func TestBessel(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		checkPlain(t, "BesselI0e", BesselI0e, besselI0.of)
		checkPlain(t, "BesselI1e", BesselI1e, besselI1.of)
		half := func(x float32) float32 {
			y := []float32{abs32(x) * 0.5}
			Exp(y, y)
			return y[0]
		}
		checkPlain(t, "BesselI0", BesselI0, func(x float32) float32 { return besselI0.of(x) * half(x) * half(x) })
		checkPlain(t, "BesselI1", BesselI1, func(x float32) float32 { return besselI1.of(x) * half(x) * half(x) })
	})
}

func TestQuantiles(t *testing.T) {
	log := func(x float32) float32 {
		y := []float32{x}
		Log(y, y)
		return y[0]
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		checkPlain(t, "Ndtri", Ndtri, func(x float32) float32 {
			root := float32(math.Sqrt(float64(-2 * log(ndtri.tail(x)))))
			return ndtri.end(x, root, log(root))
		})
		checkPlain(t, "Erfinv", Erfinv, func(x float32) float32 {
			root := float32(math.Sqrt(float64(-2 * log(erfinv.tail(x)))))
			return erfinv.end(x, root, log(root))
		})
		x := numbers32(3000)
		y, z := make([]float32, len(x)), make([]float32, len(x))
		Erfinv(y, x)
		for i, v := range x {
			z[i] = (v + 1) / 2
			if want := math.Erfinv(float64(v)); !kerneltest.Same(y[i], float32(want)) && !(math.Abs(float64(y[i])-want) <= 1e-6*math.Max(math.Abs(want), 1e-38)) {
				t.Fatalf("Erfinv of %v is %v, want %v", v, y[i], want)
			}
		}
		Ndtri(y, z)
		for i, v := range z {
			if want := -math.Sqrt2 * math.Erfcinv(2*float64(v)); !kerneltest.Same(y[i], float32(want)) && !(math.Abs(float64(y[i])-want) <= 1e-6*math.Max(math.Abs(want), 1e-38)) {
				t.Fatalf("Ndtri of %v is %v, want %v", v, y[i], want)
			}
		}
	})
}
