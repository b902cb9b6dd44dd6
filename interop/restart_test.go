package interop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestart: a server that is killed and started again has lost the sessions
// of before: clients of TensorFlow hear of it as they do from a server of
// TensorFlow, so that monitored sessions go on from their last checkpoint.
func TestRestart(t *testing.T) {
	needTensorFlow(t)
	lines := map[string][]string{}
	for _, kind := range []string{ofTensorFlow, ofGorge} {
		addr := ports(t, 1)[0]
		args := []string{addr, gorge, "serve", "--cluster_spec=worker|" + addr, "--job_name=worker", "--task_id=0", "--log=warn"}
		if kind == ofTensorFlow {
			args = []string{addr, python, "testdata/server.py", "worker|" + addr, "worker", "0"}
		}
		lines[kind] = script(t, "restart.py", args...)
	}
	if d := cmp.Diff(lines[ofTensorFlow], lines[ofGorge]); d != "" || len(lines[ofGorge]) != 8 {
		t.Errorf("what the program prints (-TensorFlow +Gorge):\n%s\n%q", d, lines[ofGorge])
	}
}
