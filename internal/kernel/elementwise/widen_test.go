package elementwise

import (
	"math"
	"testing"

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
