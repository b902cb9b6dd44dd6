package statuspage_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestQueuePairs: what crosses by RDMA is counted for each queue pair, at both ends.
func TestQueuePairs(t *testing.T) {
	c := start(t, cluster.Config{Protocol: "grpc+verbs", RDMA: cluster.RDMA{Provider: cluster.ProviderSoft}, Log: slog.DiscardHandler})
	for _, o := range c {
		if err := o.Start(); err != nil {
			t.Fatal(err)
		}
	}
	const n, steps = 1000, 3
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, tf.Float32, tf.Shape{n}, tf.OnDevice("/job:ps"))
	y := ops.Square(ops.Neg(x, tf.OnDevice("/job:ps")), tf.OnDevice("/job:worker"))
	s, err := session.New(g, session.Target(strings.Replace(c["worker"].Target(), "127.0.0.1", "localhost", 1)), session.With(session.Config{DisabledPasses: []string{"all"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fed, err := tf.FromSlice(make([]float32, n), n)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
		if _, err := s.Run(t.Context(), session.Feeds{x: fed}, y); err != nil {
			t.Fatal(err)
		}
	}
	// What is fed goes to the ps, what it computes comes back: at each end three tensors
	// are asked for, the first one twice, and offered once.
	want := map[string]int{"sends": 1, "messages": steps + 2, "writes": steps, "written_bytes": 4 * n * steps, "received": steps, "retries": 1, "waits": 0}
	for job, other := range map[string]string{"ps": "worker", "worker": "ps"} {
		_, text := c[job].get(t, "/metrics")
		label := fmt.Sprintf(`{peer="/job:%s/replica:0/task:0",qpn="%d"}`, other, c[job].RDMAStats()[0].QPN)
		for name, v := range want {
			if line := fmt.Sprintf("gorge_rdma_%s_total%s %d\n", name, label, v); !strings.Contains(text, line) {
				t.Errorf("the metrics of the %s have no line %q", job, line)
			}
		}
		for _, name := range []string{"acks", "batches", "completions", "credits", "unready", "ring_full", "staged", "staged_bytes"} {
			if !strings.Contains(text, "gorge_rdma_"+name+"_total"+label) {
				t.Errorf("the metrics of the %s have no %s", job, name)
			}
		}
	}
}
