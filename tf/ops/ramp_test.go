package ops

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestRamp: blocks hold what their elements are, to the last bit.
func TestRamp(t *testing.T) {
	inf := float32(math.Inf(1))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 1023, 1024, 1025, 3000} {
			for _, by := range [][2]float32{{0.3, 0.7}, {-5, 1e-3}, {1e30, 1e36}, {0, inf}, {inf, -1}} {
				y := make([]float32, n)
				ramp(y, by[0], by[1])
				for i, v := range y {
					if want := by[0] + float32(float32(i)*by[1]); !kerneltest.Same(v, want) {
						t.Fatalf("%v: element %d of %d is %v, want %v", by, i, n, v, want)
					}
				}
			}
		}
	})
}

func TestSteps(t *testing.T) {
	for n := range 12 {
		for _, delta := range []int8{1, -3, 100} {
			y := make([]int8, n)
			steps(y, 7, delta)
			for i, v := range y {
				if want := 7 + int8(i)*delta; v != want {
					t.Fatalf("element %d of %d by %d is %d, want %d", i, n, delta, v, want)
				}
			}
		}
	}
}
