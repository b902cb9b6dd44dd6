package reduction

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestExpFarBelow: from where e^x is nearer to 0 than to the least number on, the result is 0 however
// far below x lies, as numbers that mask a sequence do; subnormal results and NaN remain.
func TestExpFarBelow(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{0, -87, -88, -95, -103, -103.9, -103.98, -104, -104.1, -105, -200, -1e4, -1e9, -3e38, -inf, nan, 1, -1e4, -100}
	kerneltest.EachLevel(t, func(t *testing.T) {
		y, shifted := make([]float32, len(x)), make([]float32, len(x))
		elementwise.Exp(y, x)
		ExpShifted(shifted, x, 0)
		for i, x := range x {
			want := float32(math.Exp(float64(x)))
			for _, got := range []float32{y[i], shifted[i]} {
				if d := math.Abs(float64(got) - float64(want)); !(d <= 3e-7*float64(want)+0x1p-149) && !(x != x && got != got) || want == 0 && got != 0 {
					t.Errorf("e to the %v is %v, want %v", x, got, want)
				}
			}
		}
	})
}
