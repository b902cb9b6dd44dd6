package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

func TestHyperbolic(t *testing.T) {
	x := numbers32(20_000)
	for i := range 200 {
		x = append(x, 1+float32(i)*0x1p-23, float32(i-100)*0x1p-14)
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			loop func(y, x []float32)
			want func(float64) float64
		}{
			"cosh":  {Cosh32, math.Cosh},
			"asinh": {Asinh32, math.Asinh},
			"acosh": {Acosh32, math.Acosh},
		} {
			y := make([]float32, len(x))
			c.loop(y, x)
			for i, v := range x {
				checkNear(t, name, float64(v), float64(y[i]), float64(float32(c.want(float64(v)))))
			}
			for n := range 40 { // each length, in place
				z := append([]float32{}, x[:n+1]...)
				c.loop(z[:n], z[:n])
				for i, v := range z[:n] {
					if !kerneltest.Same(v, y[i]) {
						t.Fatalf("%s: element %d of %d is %v, want %v", name, i, n, v, y[i])
					}
				}
			}
		}
	})
}

// pairs32 are all pairs of special numbers, and random ones.
func pairs32() (x, y []float32) {
	some := append(numbers32(200), 2, -2, 3, -3, 0.1, 1e-3, 1<<28, 1<<28-1, 1<<29+64, 16777215)
	for _, a := range some {
		for _, b := range some {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

func TestRemainders(t *testing.T) {
	x, y := pairs32()
	for i := range 200_000 { // near multiples
		b := y[i%len(y)]
		a := b * float32(i*i%(1<<28))
		x, y = append(x, math.Nextafter32(a, float32(i%3-1)*math.MaxFloat32)), append(y, b)
	}
	z := make([]float32, len(x))
	Mod(z, x, y)
	for i := range z {
		if want := float32(math.Mod(float64(x[i]), float64(y[i]))); !kerneltest.Same(z[i], want) {
			t.Fatalf("the remainder of %v by %v is %v, want %v", x[i], y[i], z[i], want)
		}
	}
	FloorMod(z, x, y)
	w := append([]float32{}, y...)
	FloorMod(w, x, w) // in place of the divisor
	for i := range z {
		if !kerneltest.Same(z[i], w[i]) {
			t.Fatalf("the floored remainder of %v by %v is %v in place of the divisor, else %v", x[i], y[i], w[i], z[i])
		}
	}
}

func TestNextAfter(t *testing.T) {
	x, y := pairs32()
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append([]int{len(x)}, kerneltest.Lengths...) {
			n = min(n, len(x))
			z := append([]float32{}, x[:n]...)
			NextAfter32(z, z, y[:n])
			for i := range z {
				if want := nextAfter32(x[i], y[i]); !kerneltest.Same(z[i], want) {
					t.Fatalf("next to %v towards %v is %v, want %v", x[i], y[i], z[i], want)
				}
			}
		}
	})
}
