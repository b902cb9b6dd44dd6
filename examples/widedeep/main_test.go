package main

import (
	"io"
	"testing"
)

// Luck decides some cases, so that no model is always right; the more frequent
// answer is right in little more than half of them.
func TestWideAndDeep(t *testing.T) {
	r, err := run(t.Context(), t.TempDir(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if r.baseline > 0.65 || r.accuracy < 0.88 || r.served < 0.85 {
		t.Errorf("accuracy %.3f, by the more frequent answer %.3f, over REST %.3f", r.accuracy, r.baseline, r.served)
	}
}
