//go:build unix

package elementwise

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestNothingOutside: loops of all forms neither read nor write beyond their operands.
func TestNothingOutside(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for n := 1; n <= 70; n++ {
			for _, atEnd := range []bool{false, true} {
				t.Run(fmt.Sprint(n, atEnd), func(t *testing.T) { runLoops(t, n, atEnd) })
			}
		}
	})
}

func runLoops(t *testing.T, n int, atEnd bool) {
	x, y, z := kerneltest.Paged[float32](t, n, atEnd), kerneltest.Paged[float32](t, n, atEnd), kerneltest.Paged[float32](t, n, atEnd)
	wide, less := kerneltest.Paged[float64](t, n, atEnd), make([]bool, n)
	for _, f := range []func(y, x []float32){Neg[float32], Abs[float32], Rsqrt[float32], Relu[float32], Exp[float32], Log[float32], Tanh[float32], Erf[float32], Softplus[float32]} {
		f(z, x)
	}
	for _, f := range []func(z, x, y []float32){Add[float32], Div[float32], Max[float32], ReluGrad[float32], TanhGrad[float32], SquaredDifference[float32]} {
		f(z, x, y)
	}
	powers32(z, x, y)
	MulScalar(z, x, 2)
	Greater(less, x, y)
	SelectRun(z, less, 1, x, 1, y, 1)
	Cast(wide, x)
	Cast(z, wide)
	BlendPixels(z, x, y, NewPlaces([]Place{{V: 1, W: 1}}, n, n), 1, 1)
	if n%3 == 0 {
		third := make([]Place, n/3)
		for i := range third {
			third[i] = Place{At: 3 * i, Next: n - 3, AtY: n - 3*i - 3, NextY: 3 * i}
		}
		BlendPixels(z, x, y, NewPlaces(third, 3, n), 1, 1)
	}
}
