package interop

import (
	"strings"
	"testing"
)

// rounding is how far from exact values those of a server may be in any case.
const rounding = "1e-6"

// Programs in the manner of tutorials, trained on a server, fetch values as exact
// as TensorFlow's: both are compared with twins of double precision, 20 steps long.
func TestTutorials(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 1)
	serve(t, ofGorge, "worker|"+addr[0], "worker", 0)
	lines := script(t, "tutorials.py", "grpc://"+addr[0], rounding)
	if len(lines) != 20 {
		t.Errorf("%d lines, want 10 programs with 2 kinds of variables", len(lines))
	}
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 5 {
			t.Fatalf("what is %q?", line)
		}
		if number(t, f[2]) < 80 {
			t.Errorf("%s with %s variables: only %s values", f[0], f[1], f[2])
		}
		if excess := number(t, f[3]); !(excess <= 1) {
			t.Errorf("%s with %s variables: the difference of %s is %v of what TensorFlow's allows", f[0], f[1], f[4], excess)
		}
	}
}
