package interop

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEagerPrograms runs programs of TensorFlow 2, which send operations and
// functions one by one, on a server of Gorge and another one of TensorFlow: what they
// print, values as well as errors, is what they print on two of TensorFlow's. Values
// go from one to the other, and either calls functions that have parts in the other.
func TestEagerPrograms(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 3)
	// A server is a cluster by itself: programs bring their own.
	alone := func(i int) string { return "localhost|" + addr[i] }
	both(
		func() { serve(t, ofGorge, alone(0), "localhost", 0) },
		func() { serve(t, ofTensorFlow, alone(1), "localhost", 0) },
		func() { serve(t, ofTensorFlow, alone(2), "localhost", 0) },
	)
	var got, want []string
	both(
		func() { got = script(t, "eager.py", addr[0], addr[1]) },
		func() { want = script(t, "eager.py", addr[2], addr[1]) },
	)
	if len(want) < 20 {
		t.Errorf("the program prints only %q", want)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-TensorFlow +Gorge:\n%s", d)
	}
}

// TestCoordinator: TensorFlow 2's ParameterServerStrategy trains on workers and
// parameter servers of either kind. A worker that is lost and comes back is waited
// for; a lost parameter server is told from it by the error's text, and reported.
func TestCoordinator(t *testing.T) {
	needTensorFlow(t)
	on := func(kinds string) []string {
		return script(t, "coordinator.py", strings.Join(ports(t, 4), ","), kinds, gorge)
	}
	var ours, mixed []string
	both(
		func() { ours = on("gorge,gorge,gorge") },
		func() { mixed = on("gorge,tensorflow,gorge") },
	)
	place := "'/job:ps/replica:0/task:0/device:CPU:0'"
	want := []string{
		"on [" + strings.Join([]string{place, place, place, place}, ", ") + "]", "learns True steps 120", "a step that fails: InvalidArgumentError",
		"restored 120", "goes on True", "without parameters: lost",
	}
	for what, got := range map[string][]string{"of Gorge's": ours, "with one of TensorFlow's": mixed} {
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("servers %s (-want +got):\n%s", what, d)
		}
	}
}
