package descent

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// adaptiveStates are v, two slots, which are not negative, and g.
func adaptiveStates(n int) [4][]float32 {
	s := [4][]float32{}
	for i := range s {
		s[i] = kerneltest.Random[float32](n, uint64(i+1))
	}
	for i, x := range s[1] {
		s[1][i] = float32(math.Abs(float64(x)))
	}
	if n > 2 { // infinite steps, and NaN
		s[1][0], s[3][0] = 0, 0
		s[3][1] = float32(math.Inf(1))
	}
	return s
}

// TestAdaptiveBits compares the levels of instructions, bit by bit.
func TestAdaptiveBits(t *testing.T) {
	for name, update := range map[string]func(s [4][]float32){
		"Adagrad":   func(s [4][]float32) { Adagrad(s[0], s[1], s[3], 0.3) },
		"AdagradV2": func(s [4][]float32) { AdagradV2(s[0], s[1], s[3], 0.3, 1e-3) },
		"RMSProp":   func(s [4][]float32) { RMSProp(s[0], s[1], s[2], s[3], 0.3, 0.9, 0.7, 1e-3) },
	} {
		for _, n := range kerneltest.Lengths {
			want := adaptiveStates(n)
			kernel.Use(kernel.Portable)
			update(want)
			kerneltest.EachLevel(t, func(t *testing.T) {
				got := adaptiveStates(n)
				update(got)
				for i := range got {
					if !slices.EqualFunc(got[i], want[i], equalBits) {
						t.Errorf("%s of %d elements: state %d is %v, want %v", name, n, i, got[i], want[i])
					}
				}
			})
		}
	}
}

// equalBits takes all NaNs for one.
func equalBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func TestAdaptiveSteps(t *testing.T) {
	v, a := []float64{1}, []float64{3}
	Adagrad(v, a, []float64{-1}, 0.5)
	if a[0] != 4 || v[0] != 1.25 {
		t.Errorf("Adagrad: variable %v, sum %v", v, a)
	}
	v, a = []float64{1}, []float64{3}
	AdagradV2(v, a, []float64{1}, 0.5, 2)
	if a[0] != 4 || v[0] != 1-0.5/4 {
		t.Errorf("AdagradV2: variable %v, sum %v", v, a)
	}
	v, s, m := []float64{1}, []float64{2}, []float64{4}
	RMSProp(v, s, m, []float64{2}, 0.5, 0.5, 0.25, 1)
	if s[0] != 3 || m[0] != 1.5 || v[0] != -0.5 {
		t.Errorf("RMSProp: variable %v, mean square %v, momentum %v", v, s, m)
	}
}
