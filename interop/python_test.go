package interop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tolerance is how far losses may be from those of TensorFlow alone: both sum
// in orders of their own.
const tolerance = 1e-4

// Python programs train on clusters of every mixture of servers, through a
// master of either kind, as they do without a cluster.
func TestPythonTrains(t *testing.T) {
	needTensorFlow(t)
	sgd, adam := "--optimizer=sgd", "--ref --optimizer=adam"
	for _, c := range []struct {
		ps, worker string
		master     string // job of the task that the client connects to
		options    string
	}{
		{ofGorge, ofGorge, "worker", sgd},
		{ofGorge, ofGorge, "worker", adam},
		{ofGorge, ofGorge, "ps", "--seed=7 --optimizer=momentum"},
		{ofTensorFlow, ofGorge, "worker", adam},
		{ofTensorFlow, ofGorge, "ps", sgd},
		{ofGorge, ofTensorFlow, "worker", sgd},
		{ofGorge, ofTensorFlow, "ps", adam},
	} {
		t.Run(fmt.Sprintf("ps %s, worker %s, master %s, %s", c.ps, c.worker, c.master, c.options), func(t *testing.T) {
			want := local(t, c.options)
			addr := ports(t, 2)
			cluster := "ps|" + addr[0] + ",worker|" + addr[1]
			both(func() { serve(t, c.ps, cluster, "ps", 0) }, func() { serve(t, c.worker, cluster, "worker", 0) })
			target := map[string]string{"ps": addr[0], "worker": addr[1]}[c.master]
			args := append(strings.Fields(c.options), "--target=grpc://"+target, "--vars=/job:ps", "--work=/job:worker")
			compareLosses(t, script(t, "mlp.py", args...), want)
		})
	}
}

// both runs functions at once: servers take their time to start.
func both(f ...func()) {
	var wg sync.WaitGroup
	for _, f := range f {
		wg.Go(f)
	}
	wg.Wait()
}

var baselines = map[string][]string{}

// local returns what TensorFlow prints without a cluster.
func local(t *testing.T, options string) []string {
	t.Helper()
	if baselines[options] == nil {
		baselines[options] = script(t, "mlp.py", strings.Fields(options)...)
	}
	return baselines[options]
}

// compareLosses compares the losses, and the number of steps in the last line.
func compareLosses(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) || len(want) != 101 {
		t.Fatalf("%d lines, want %d and 101", len(got), len(want))
	}
	last := len(want) - 1
	for i := range last {
		if g, w := number(t, got[i]), number(t, want[i]); !(math.Abs(g-w) <= tolerance) {
			t.Fatalf("loss before step %d = %v, without a cluster %v", i, g, w)
		}
	}
	if got[last] != want[last] {
		t.Errorf("last line %q, want %q", got[last], want[last])
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A Python program sees no difference between a server of TensorFlow and one of
// Gorge: values, errors, who shares variables with whom.
func TestPythonSeesNoDifference(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 2)
	both(func() { serve(t, ofGorge, "worker|"+addr[0], "worker", 0) }, func() { serve(t, ofTensorFlow, "worker|"+addr[1], "worker", 0) })
	got, want := script(t, "protocol.py", "grpc://"+addr[0]), script(t, "protocol.py", "grpc://"+addr[1])
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what the program prints (-TensorFlow +Gorge):\n%s", d)
	}
}

// An op that a client brings and nobody here knows is an error that names it;
// the server goes on serving.
func TestPythonBringsUnknownOp(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 1)
	serve(t, ofGorge, "worker|"+addr[0], "worker", 0)
	want := []string{"NotFoundError True", "42.0"}
	if d := cmp.Diff(want, script(t, "unknown.py", "grpc://"+addr[0])); d != "" {
		t.Errorf("what the program prints (-want +got):\n%s", d)
	}
}
