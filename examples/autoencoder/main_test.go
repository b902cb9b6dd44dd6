package main

import (
	"strings"
	"testing"
)

// TestPicturesComeThrough: without learning the error is about 0.25; that of
// pictures without any shape 0.2.
func TestPicturesComeThrough(t *testing.T) {
	var out strings.Builder
	mse, err := run(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	if !(mse < 0.02) {
		t.Errorf("mean squared error %v of new pictures:\n%s", mse, out.String())
	}
	if lines := strings.Count(out.String(), "→"); lines != 3*side {
		t.Errorf("%d rows of pictures, want %d", lines, 3*side)
	}
}

func TestShades(t *testing.T) {
	if got, want := shades([]float32{0, 0.25, 0.5, 0.75, 1}), "·░▒▓█"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
