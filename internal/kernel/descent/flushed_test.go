package descent

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestDecayEnds: moments that no gradient feeds any more end at 0, not among subnormal numbers,
// and those beside them go on.
func TestDecayEnds(t *testing.T) {
	const n = 37
	step := AdamStep[float32]{Alpha: 0.001, Beta1: 0.9, Beta2: 0.9, Epsilon: 1e-7}
	nesterov := step
	nesterov.Nesterov = true
	for name, f := range map[string]func(v, m, s, g []float32){
		"Adam":     func(v, m, s, g []float32) { Adam(v, m, s, g, step) },
		"NAdam":    func(v, m, s, g []float32) { Adam(v, m, s, g, nesterov) },
		"Momentum": func(v, m, s, g []float32) { Momentum(v, m, g, 0.1, 0.9); clear(s[1:]) },
		"Nesterov": func(v, m, s, g []float32) { MomentumNesterov(v, m, g, 0.1, 0.9); clear(s[1:]) },
		"RMSProp":  func(v, m, s, g []float32) { RMSProp(v, s, m, g, 0.1, 0.9, 0.9, 1e-7) },
	} {
		t.Run(name, func(t *testing.T) { kerneltest.EachLevel(t, func(t *testing.T) { decays(t, n, f) }) })
	}
}

// decays runs f without gradients, but for the first element.
func decays(t *testing.T, n int, f func(v, m, s, g []float32)) {
	v, m, s, g := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2), make([]float32, n), make([]float32, n)
	for i := range s {
		s[i] = 0.5
	}
	g[0] = 1
	for range 2000 {
		f(v, m, s, g)
	}
	for i := 1; i < n; i++ {
		if m[i] != 0 || s[i] != 0 {
			t.Fatalf("element %d: moments %v and %v, want 0", i, m[i], s[i])
		}
	}
	if m[0] == 0 || s[0] == 0 {
		t.Errorf("moments %v and %v beside a gradient of 1", m[0], s[0])
	}
}
