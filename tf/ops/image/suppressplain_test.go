package image

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPlainSelection compares the selection without changes of scores with the one that
// allows them, for boxes and scores of which many are equal, touch, or have no area.
func TestPlainSelection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	edge := func() float32 { return float32(rng.IntN(13)-6) / 4 * float32(1-2*rng.IntN(2)) }
	plain := 0
	for round := range 3000 {
		n := rng.IntN(40)
		v, scores := make([]float32, 4*n), make([]float32, n)
		for i := range v {
			if v[i] = edge(); rng.IntN(3) == 0 {
				v[i] = rng.Float32()
			}
			if round%10 == 0 && rng.IntN(50) == 0 {
				v[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), 3e38, -3e38}[rng.IntN(4)]
			}
		}
		for i := range scores {
			if scores[i] = edge(); round%10 == 1 && rng.IntN(20) == 0 {
				scores[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))}[rng.IntN(3)]
			}
		}
		s := &selection{scores: scores, limit: rng.IntN(n + 3), threshold: float32(rng.IntN(5)) / 4, least: edge() - 1, round: exactly}
		s.compareBoxes(boxesOf(v))
		if s.isPlain() {
			plain++
		}
		boxes, kept := s.run()
		wantBoxes, wantKept := s.runSoft()
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if !slices.Equal(boxes, wantBoxes) || !slices.EqualFunc(kept, wantKept, same) {
			t.Fatalf("boxes %v, scores %v, threshold %v: %v %v, want %v %v", v, scores, s.threshold, boxes, kept, wantBoxes, wantKept)
		}
	}
	if plain < 2000 {
		t.Errorf("%d selections were plain", plain)
	}
}
