package master_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A traced step reports the nodes of all tasks and what went between them.
func TestTimeline(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	s := connect(t, c.master(worker0), counter(), nil)
	s.must("v/Assign")
	req := s.request(feeds{"x:0": core.Scalar[float32](2)}, []string{"sum:0"})
	req.Options = &pb.RunOptions{TraceLevel: pb.RunOptions_FULL_TRACE}
	resp, err := s.m.RunStep(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var ran, received []string
	for _, d := range resp.GetMetadata().GetStepStats().GetDevStats() {
		task := strings.TrimSuffix(d.GetDevice(), "/device:CPU:0")
		for _, n := range d.GetNodeStats() {
			if n.GetNodeName() == "RecvTensor" {
				received = append(received, task)
			} else {
				ran = append(ran, task+" "+n.GetNodeName())
			}
		}
	}
	for _, want := range []string{ps0 + " v", ps0 + " v/Read/ReadVariableOp", worker1 + " sum"} {
		if !slices.Contains(ran, want) {
			t.Errorf("no %q among the nodes that ran: %q", want, ran)
		}
	}
	slices.Sort(received)
	if want := []string{worker0, worker1, worker1}; !slices.Equal(received, want) {
		t.Errorf("tensors were received by %v, want %v: the sum, x and v", received, want)
	}
	if resp, err = s.m.RunStep(t.Context(), s.request(feeds{"x:0": core.Scalar[float32](2)}, []string{"sum:0"})); err != nil || resp.GetMetadata() != nil {
		t.Errorf("a step that is not traced reports %v, %v", resp.GetMetadata(), err)
	}
}

// Costs are measured in the runs of a graph that the configuration names.
func TestCostModel(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), &pb.ConfigProto{GraphOptions: &pb.GraphOptions{BuildCostModel: 3}})
	s.must("v/Assign")
	for i := range 6 {
		resp, err := s.m.RunStep(t.Context(), s.request(feeds{"x:0": core.Scalar[float32](2)}, []string{"sum:0"}))
		if err != nil {
			t.Fatal(err)
		}
		nodes := map[string]bool{}
		for _, n := range resp.GetMetadata().GetCostGraph().GetNode() {
			nodes[n.GetName()] = true
		}
		if due := i%3 == 2; nodes["sum"] != due || nodes["v"] != due {
			t.Errorf("run %d measures %v", i, nodes)
		}
	}
}

// A session may do without the graphs of partitions.
func TestPartitionGraphsDisabled(t *testing.T) {
	cfg := &pb.ConfigProto{Experimental: &pb.ConfigProto_Experimental{DisableOutputPartitionGraphs: true}}
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), cfg)
	req := s.request(nil, nil, "v/Assign")
	req.Options = &pb.RunOptions{OutputPartitionGraphs: true}
	_, err := s.m.RunStep(t.Context(), req)
	check(t, "RunStep", err, core.InvalidArgument, "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs is true.")
	s.must("v/Assign")
}
