package interop

import (
	"strings"
	"testing"
)

// TestRecomputation: a Python program gets the same losses, to the bit, whatever
// RewriterConfig.memory_optimization says, and what it asks for is computed again.
func TestRecomputation(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 1)[0]
	serve(t, ofGorge, "local|"+addr, "local", 0)
	again := map[string]bool{
		"DEFAULT_MEM_OPT marked": true, "MANUAL marked": true, "RECOMPUTATION_HEURISTICS plain": true, "RECOMPUTATION_HEURISTICS marked": true,
		"HEURISTICS plain": true, "HEURISTICS marked": true,
	}
	lines := script(t, "recompute.py", "grpc://"+addr)
	if len(lines) != 10 {
		t.Fatalf("%d lines, want one for each of five ways, with and without marks", len(lines))
	}
	for _, line := range lines {
		way := strings.Join(strings.Fields(line)[:2], " ")
		want := way + " near same kept"
		if again[way] {
			want = way + " near same again"
		}
		if line != want {
			t.Errorf("got %q, want %q", line, want)
		}
	}
}
