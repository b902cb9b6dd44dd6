package interop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEagerPrograms runs programs of TensorFlow 2, which send operations and
// functions one by one, on servers of Gorge: what they print, values as well as
// errors, is what they print on TensorFlow's. In a cluster of both kinds values go
// from one to the other, and either calls functions that have parts in the other.
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
	var one, wantOne, mixed, wantTwo []string
	both(
		func() { one = script(t, "eager.py", addr[0]) },
		func() { wantOne = script(t, "eager.py", addr[1]) },
	)
	both(
		func() { mixed = script(t, "eager.py", addr[0], addr[1]) },
		func() { wantTwo = script(t, "eager.py", addr[2], addr[1]) },
	)
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"one task", one, wantOne},
		{"two tasks, of both kinds", mixed, wantTwo},
	} {
		if len(c.want) < 10 {
			t.Errorf("%s: the program prints only %q", c.name, c.want)
		}
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: -TensorFlow +Gorge:\n%s", c.name, d)
		}
	}
}
