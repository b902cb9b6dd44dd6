package main

import (
	"strings"
	"testing"
)

func TestLearnsFromRecords(t *testing.T) {
	var out strings.Builder
	share, err := run(t.Context(), t.TempDir(), 1, &out)
	if err != nil {
		t.Fatal(err)
	}
	if share < 0.85 || !strings.Contains(out.String(), "test accuracy") {
		t.Errorf("accuracy %v, printed %q", share, out.String())
	}
}
