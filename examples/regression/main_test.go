package main

import (
	"io"
	"math"
	"testing"
)

func TestFindsThePlane(t *testing.T) {
	slopes, offset, err := run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float32) {
		t.Helper()
		if !(math.Abs(float64(got-want)) < 0.05) {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	for i, want := range truth.slopes {
		near("slope", slopes[i], want)
	}
	near("offset", offset, truth.offset)
}
