package main

import (
	"strings"
	"testing"
)

func TestReadsDigits(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, "model", []string{"digit0.png", "digit1.png", "digit2.png"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"digit0.png: 6, probability 0.9", "digit1.png: 0, probability 0.9", "digit2.png: 3, probability "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := run(t.Context(), &out, "model", []string{"main.go"}); err == nil || !strings.Contains(err.Error(), "image") {
		t.Errorf("a file that is no image: %v", err)
	}
	if err := run(t.Context(), &out, "model", nil); err == nil || !strings.Contains(err.Error(), "digit0.png") {
		t.Errorf("no file: %v", err)
	}
	if err := run(t.Context(), &out, "none", []string{"digit0.png"}); err == nil || !strings.Contains(err.Error(), "Could not find SavedModel") {
		t.Errorf("no model: %v", err)
	}
}
