package main

import (
	"math"
	"strings"
	"testing"
)

// TestPointsComeToTheRing: the maker has learned where points are, and makes
// them in more than one place.
func TestPointsComeToTheRing(t *testing.T) {
	var out strings.Builder
	off, err := run(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	if !(off < 0.15) {
		t.Errorf("points are %v from the circle on average:\n%s", off, out.String())
	}
	if places := strings.Count(out.String(), "o"); places < 30 {
		t.Errorf("points are in %d places only:\n%s", places, out.String())
	}
}

func TestDistance(t *testing.T) {
	if got := distance([]float32{1, 0, 0, -2, 0, 0}); math.Abs(got-2.0/3) > 1e-9 {
		t.Error(got)
	}
}
