package elementwise

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestBlend: the bits are those of operations that are rounded one by one.
func TestBlend(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			x, y := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2)
			want, got := make([]float32, n), make([]float32, n+20)
			for i := range want {
				p, q := float32(float64(float32(0.7))*float64(x[i])), float32(float64(float32(-0.3))*float64(y[i]))
				want[i] = float32(float64(p) + float64(q))
			}
			if Blend(got[:n], x, y, 0.7, -0.3); !slices.Equal(got[:n], want) || slices.Max(got[n:]) != 0 {
				t.Fatalf("%d elements are %v, want %v", n, got, want)
			}
		}
	})
}
