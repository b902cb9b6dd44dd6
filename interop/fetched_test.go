package interop

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Variables that are fetched in the step that trains them have the values that
// TensorFlow gives them: those of the reference kind the one after the update, in
// whatever way they are read.
func TestFetchedWithTheirUpdate(t *testing.T) {
	needTensorFlow(t)
	var here, there string
	both(func() { here = pair(t, ofGorge) }, func() { there = pair(t, ofTensorFlow) })
	said := strings.Split(strings.Join(script(t, "fetched.py", "local", there, here), "\n"), "--")
	if len(said) != 4 || strings.Count(said[0], "\n") != 51 {
		t.Fatalf("%d servers, %d lines of the first one", len(said)-1, strings.Count(said[0], "\n"))
	}
	for i, what := range []string{"in process", "on a cluster of TensorFlow", "on a cluster of Gorge"} {
		if d := cmp.Diff(strings.TrimSpace(said[0]), strings.TrimSpace(said[i])); d != "" {
			t.Errorf("what the program prints (-TensorFlow in process +%s):\n%s", what, d)
		}
	}
}
