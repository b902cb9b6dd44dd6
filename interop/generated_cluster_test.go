package interop

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/session"
)

// tasks starts a cluster in this process, whose tasks exchange tensors by a protocol,
// and returns their targets.
func tasks(t *testing.T, protocol string, n int) []string {
	t.Helper()
	spec := cluster.Spec{}
	listeners := make([]net.Listener, n)
	for i := range listeners {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i], spec["worker"] = lis, append(spec["worker"], lis.Addr().String())
	}
	targets := make([]string, n)
	for i, lis := range listeners {
		s, err := cluster.NewServer(cluster.Config{Cluster: spec, Job: "worker", Task: i, Listener: lis, Protocol: protocol, RDMA: cluster.RDMA{Provider: cluster.ProviderSoft}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Stop() })
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		targets[i] = s.Target()
	}
	return targets
}

// TestGeneratedGraphsOnClusters runs graphs drawn at random, with conditionals,
// loops, functions and variables spread over tasks, and on as many devices of
// one process. All have to give equal values in each step, however tensors cross.
func TestGeneratedGraphsOnClusters(t *testing.T) {
	for _, protocol := range []string{"grpc", "grpc+verbs"} {
		t.Run(protocol, func(t *testing.T) { generatedOnClusters(t, protocol) })
	}
}

func generatedOnClusters(t *testing.T, protocol string) {
	for n := 2; n <= 4; n++ {
		targets := tasks(t, protocol, n)
		var here, there []string
		for k := range n {
			here, there = append(here, fmt.Sprintf("/device:CPU:%d", k)), append(there, fmt.Sprintf("/job:worker/task:%d", k))
		}
		for seed := range generated(t) / 5 {
			local, spread := draw(seed, here...), draw(seed, there...)
			plan := local.plan()
			runSteps(t, fmt.Sprintf("seed %d, in one process", seed), local.g, session.Config{Devices: map[string]int{"CPU": n}}, &plan)
			cfg := session.Config{Target: targets[int(seed)%n], Isolate: true, Timeout: time.Minute}
			runSteps(t, fmt.Sprintf("seed %d, on %d tasks", seed, n), spread.g, cfg, &plan)
		}
	}
}
