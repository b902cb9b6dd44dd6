package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// TestColoursAreNearColours: what is used alike is found alike.
func TestColoursAreNearColours(t *testing.T) {
	var out strings.Builder
	near, err := run(t.Context(), &out, 6)
	if err != nil {
		t.Fatal(err)
	}
	colours := []string{"red", "orange", "yellow", "green", "blue", "indigo", "violet", "purple", "white", "black", "scarlet"}
	alike := 0
	for _, word := range []string{"red", "blue"} {
		for _, n := range near[word] {
			if slices.Contains(colours, n) {
				alike++
			}
		}
	}
	if alike < 3 { // by chance there would be one in a hundred; how many are found depends on the order of threads
		t.Errorf("%d of %d neighbours of colours are colours: %v", alike, 2*nearest, near)
	}
	if !strings.Contains(out.String(), "loss") {
		t.Errorf("no progress is told: %s", out.String())
	}
}

// TestInterrupted ends the context in the middle: all runners end, see TestMain.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := run(ctx, &stopper{stop: cancel}, epochs); err == nil {
		t.Error("no error tells of the end")
	}
}

// stopper calls stop when it is told of progress.
type stopper struct{ stop func() }

func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "loss") {
		s.stop()
	}
	return len(p), nil
}

func TestCorpus(t *testing.T) {
	c := newCorpus(split("The light, the Glass; the light's red -- GLASS red blue."), 2)
	if want := []string{"the", "glass", "red"}; !slices.Equal(c.words, want) {
		t.Errorf("words %q, want %q", c.words, want)
	}
	if want := []int32{0, 0, 1, 0, 2, 1, 2}; !slices.Equal(c.text, want) {
		t.Errorf("text %v, want %v", c.text, want)
	}
	if got := c.thinned(1, 1); !slices.Equal(got, c.text) {
		t.Errorf("of words that are not too many nothing is kept but %v", got)
	}
	if got := len(c.thinned(1e-4, 1)); got >= len(c.text) {
		t.Errorf("%d words of %d", got, len(c.text))
	}
}
