package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestLogAddExp compares with float64, special values in all pairs and in place, too; which bits
// result does not depend on how many there are.
func TestLogAddExp(t *testing.T) {
	var x, y []float32
	for _, a := range kerneltest.Corner {
		for _, b := range kerneltest.Corner {
			x, y = append(x, a), append(y, b)
		}
	}
	x, y = append(x, mixed(3000, 5, 30)...), append(y, mixed(3000, 6, 30)...)
	want := make([]float64, len(x))
	for i := range x {
		logAddExp(want[i:i+1], []float64{float64(x[i])}, []float64{float64(y[i])})
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		z, inPlace, one := make([]float32, len(x)), append([]float32(nil), x...), make([]float32, 1)
		LogAddExp(z, x, y)
		LogAddExp(inPlace, inPlace, y)
		for i, w := range want {
			LogAddExp(one, x[i:i+1], y[i:i+1])
			if !kerneltest.Same(one[0], z[i]) || !kerneltest.Same(inPlace[i], z[i]) {
				t.Fatalf("of %v and %v: %v, alone %v, in place %v", x[i], y[i], z[i], one[0], inPlace[i])
			}
			if same := float64(z[i]) == float64(float32(w)) || z[i] != z[i] && w != w; !same && !(math.Abs(float64(z[i])-w) <= 3e-7*max(1, math.Abs(w))) {
				t.Errorf("of %v and %v: %v, want %v", x[i], y[i], z[i], w)
			}
		}
	})
}
