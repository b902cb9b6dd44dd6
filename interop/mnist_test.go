package interop

import (
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mnistLosses runs the example for one epoch and returns the loss of each step.
func mnistLosses(t *testing.T, binary string, args ...string) (losses []float64) {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"-epochs", "1", "-losses"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			losses = append(losses, number(t, f[1]))
		}
	}
	if len(losses) != 80 {
		t.Fatalf("%d losses, want one for each of 80 steps:\n%s", len(losses), out)
	}
	return losses
}

// The MNIST program trains on TensorFlow's parameter server and worker as it
// does in its own process.
func TestMNISTOnTensorFlow(t *testing.T) {
	needTensorFlow(t)
	binary := filepath.Join(t.TempDir(), "mnist")
	if out, err := exec.Command("go", "build", "-o", binary, "../examples/mnist").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	addr := ports(t, 2)
	cluster := "ps|" + addr[0] + ",worker|" + addr[1]
	both(func() { serve(t, ofTensorFlow, cluster, "ps", 0) }, func() { serve(t, ofTensorFlow, cluster, "worker", 0) })
	got := mnistLosses(t, binary, "-target", "grpc://"+addr[1], "-variables", "/job:ps")
	for i, want := range mnistLosses(t, binary) {
		if !(math.Abs(got[i]-want) <= tolerance) {
			t.Fatalf("the loss of step %d is %v on TensorFlow, %v in one process", i+1, got[i], want)
		}
	}
}
