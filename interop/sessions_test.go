package interop

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pair starts a cluster of a ps and a worker of one kind and returns the
// worker's target.
func pair(t *testing.T, kind string) string {
	t.Helper()
	addr := ports(t, 2)
	spec := "ps|" + addr[0] + ",worker|" + addr[1]
	both(func() { serve(t, kind, spec, "ps", 0) }, func() { serve(t, kind, spec, "worker", 0) })
	return "grpc://" + addr[1]
}

// megabytes is how large the largest tensor is that crosses: larger than
// everything that has a limit by default.
const megabytes = 300

// Python programs do on a cluster of Gorge what they do on one of TensorFlow:
// partial runs, callables, traces, containers, errors, time limits, closing,
// many sessions at once, large tensors.
func TestPythonSeesNoDifferenceOnClusters(t *testing.T) {
	needTensorFlow(t)
	var here, there string
	both(func() { here = pair(t, ofGorge) }, func() { there = pair(t, ofTensorFlow) })
	lines := script(t, "cluster.py", fmt.Sprint(megabytes), there, here)
	end := slices.Index(lines, "--")
	want, got := lines[:end+1], lines[end+1:]
	if d := cmp.Diff(want, got); d != "" || len(want) != 36 {
		t.Errorf("what the program prints, %d lines (-TensorFlow +Gorge):\n%s", len(want), d)
	}
}
