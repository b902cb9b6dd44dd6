package main

import (
	"strings"
	"testing"
)

func TestLearnsTheSine(t *testing.T) {
	var out strings.Builder
	loss, err := run(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	if !(loss < 1e-3) {
		t.Errorf("mean squared error %v after training", loss)
	}
	if n := strings.Count(out.String(), "\n"); n != steps/100 {
		t.Errorf("%d lines of progress:\n%s", n, out.String())
	}
}
