package elementwise

import (
	"math"
	"testing"
)

// TestElu compares with float64, for numbers of all sizes, in place and not.
func TestElu(t *testing.T) {
	var x []float32
	for e := -40; e < 8; e++ {
		for m := range 64 {
			v := float32(math.Ldexp(1+float64(m)/64, e))
			x = append(x, -v, v)
		}
	}
	for v := float32(-1); v < 0; v += 1. / 1024 {
		x = append(x, v)
	}
	x = append(x, 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -math.SmallestNonzeroFloat32, -math.MaxFloat32)
	y := make([]float32, len(x))
	Elu(y, x)
	in := append([]float32(nil), x...)
	Elu(in, in)
	worst := 0.0
	for i, v := range x {
		want := elu(float64(v))
		if math.Float32bits(y[i]) != math.Float32bits(in[i]) {
			t.Errorf("elu(%v) is %v, %v in place", v, y[i], in[i])
		}
		if w := float32(want); y[i] == w && math.Signbit(float64(y[i])) == math.Signbit(want) || math.IsNaN(want) && y[i] != y[i] {
			continue
		}
		worst = max(worst, math.Abs((float64(y[i])-want)/want))
	}
	if worst > 3.0/(1<<23) || math.IsNaN(worst) {
		t.Errorf("an error of %.2g, want 3 units in the last place at most", worst)
	}
}
