package interop

import (
	"fmt"
	"math"
	"sync"
	"testing"
)

// replicated starts two parameter servers and two workers and returns the
// targets of the workers.
func replicated(t *testing.T, kind string) []string {
	t.Helper()
	addr := ports(t, 4)
	spec := "ps|" + addr[0] + ";" + addr[1] + ",worker|" + addr[2] + ";" + addr[3]
	var wg sync.WaitGroup
	for task := range 2 {
		wg.Go(func() { serve(t, kind, spec, "ps", task) })
		wg.Go(func() { serve(t, kind, spec, "worker", task) })
	}
	wg.Wait()
	return []string{"grpc://" + addr[2], "grpc://" + addr[3]}
}

// Two Python clients, each with a master of its own, train one network with
// variables on two parameter servers as TensorFlow does alone.
func TestPythonTrainsReplicas(t *testing.T) {
	needTensorFlow(t)
	const steps, averages = 30, 8
	const each = steps + averages + 1
	lines := script(t, "replicas.py", append([]string{fmt.Sprint(steps)}, replicated(t, ofGorge)...)...)
	if len(lines) != 4*each {
		t.Fatalf("%d lines, want %d", len(lines), 4*each)
	}
	for i, kind := range []string{"references", "resources"} {
		want, got := lines[2*i*each:(2*i+1)*each], lines[(2*i+1)*each:(2*i+2)*each]
		for k := range want {
			if g, w := number(t, got[k]), number(t, want[k]); !(math.Abs(g-w) <= tolerance) {
				t.Fatalf("%s: number %d is %v, without a cluster %v", kind, k, g, w)
			}
		}
	}
}
