package direct

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// devicesOf returns for each device the names of the nodes that were recorded.
func devicesOf(s *pb.StepStats) map[string][]string {
	out := map[string][]string{}
	for _, d := range s.GetDevStats() {
		_, short, _ := strings.Cut(d.GetDevice(), "/device:")
		for _, n := range d.GetNodeStats() {
			out[short] = append(out[short], n.GetNodeName())
		}
		slices.Sort(out[short])
	}
	return out
}

func TestTrace(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{-1}, tf.Name("x"), tf.OnDevice("/device:CPU:0"))
	y := ops.Neg(x, tf.Name("y"), tf.OnDevice("/device:CPU:0"))
	ops.Square(y, tf.Name("here"), tf.OnDevice("/device:CPU:0"))
	ops.Square(y, tf.Name("there"), tf.OnDevice("/device:CPU:1"))
	s := open(t, g, 2)
	in := []*core.Tensor{core.NewTensor(core.Float32, core.Shape{4})}
	for _, c := range []struct {
		fetch string
		want  map[string][]string
	}{
		{"here:0", map[string][]string{"CPU:0": {"_arg_x_0_0", "_retval_here_0_0", "here/fused"}}}, // in order
		{"there:0", map[string][]string{"CPU:0": {"_arg_x_0_0", "_retval_there_0_0", "y"}, "CPU:1": {"there"}}},
	} {
		sig := pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{c.fetch}}
		_, m, err := s.RunOptions(t.Context(), sig, in, &pb.RunOptions{TraceLevel: pb.RunOptions_FULL_TRACE})
		if err != nil {
			t.Fatal(err)
		}
		got := devicesOf(m.GetStepStats())
		for d, names := range c.want {
			if !slices.Equal(got[d], names) {
				t.Errorf("%s on %s: %v, want %v", c.fetch, d, got[d], names)
			}
		}
		checkTimes(t, m.GetStepStats())
		if m.GetCostGraph() != nil || m.GetPartitionGraphs() != nil {
			t.Errorf("%s: more than was asked for: %v", c.fetch, m)
		}
	}
	_, m, err := s.RunOptions(t.Context(), pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"here:0"}}, in, nil)
	if err != nil || m.GetStepStats() != nil {
		t.Errorf("without a trace: %v, %v", m, err)
	}
}

// checkTimes: whatever the clock says, a node's times are in order.
func checkTimes(t *testing.T, s *pb.StepStats) {
	t.Helper()
	for _, d := range s.GetDevStats() {
		for _, n := range d.GetNodeStats() {
			if n.GetScheduledNanos() > n.GetAllStartNanos() || n.GetOpStartRelNanos() > n.GetOpEndRelNanos() || n.GetOpEndRelNanos() > n.GetAllEndRelNanos() || n.GetScheduledNanos() == 0 {
				t.Errorf("times of %v", n)
			}
			if !strings.Contains(n.GetTimelineLabel(), n.GetNodeName()+" = ") {
				t.Errorf("label %q of %s", n.GetTimelineLabel(), n.GetNodeName())
			}
		}
	}
}

// TestTraceLoops: a node in a loop is recorded for each time that it runs.
func TestTraceLoops(t *testing.T) {
	g := imported(t, "power")
	s := open(t, g, 1, "all")
	sig := pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}
	_, m, err := s.RunOptions(t.Context(), sig, scalars(2), &pb.RunOptions{TraceLevel: pb.RunOptions_SOFTWARE_TRACE})
	if err != nil {
		t.Fatal(err)
	}
	checkTimes(t, m.GetStepStats())
	times, ops := map[string]int{}, map[string]string{}
	for _, n := range m.GetStepStats().GetDevStats()[0].GetNodeStats() {
		times[n.GetNodeName()]++
		_, rest, _ := strings.Cut(n.GetTimelineLabel(), " = ")
		ops[n.GetNodeName()], _, _ = strings.Cut(rest, "(")
	}
	for name, op := range ops {
		n := times[name]
		if (op == "Enter" || op == "Exit") && n != 1 || op == "LoopCond" && n < 2 || op == "NextIteration" && n < 1 {
			t.Errorf("%s %s was recorded %d times", op, name, n)
		}
	}
}

func TestOptions(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	ops.Neg(x, tf.Name("y"))
	s := New(g, Config{Pools: []int{1, 2}, CostModelEvery: 2})
	t.Cleanup(func() { s.Close() })
	sig := pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}
	for i := range 4 {
		_, m, err := s.RunOptions(t.Context(), sig, scalars(1), &pb.RunOptions{InterOpThreadPool: int32(i%3 - 1), OutputPartitionGraphs: i == 0})
		if err != nil {
			t.Fatal(err)
		}
		if (m.GetCostGraph() != nil) != (i%2 == 1) || (len(m.GetPartitionGraphs()) == 1) != (i == 0) {
			t.Errorf("step %d: %v", i, m)
		}
	}
	for _, pool := range []int32{-2, 2} {
		_, _, err := s.RunOptions(t.Context(), sig, scalars(1), &pb.RunOptions{InterOpThreadPool: pool})
		if core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "Invalid inter_op_thread_pool: ") {
			t.Errorf("pool %d: %v", pool, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	s, sig := waiting(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, _ = s.Run(ctx, sig, nil) // so that the step with a limit is not planned within it
	_, _, err := s.RunOptions(context.Background(), sig, nil, &pb.RunOptions{TimeoutInMs: 20})
	select {
	case <-started: // it had come that far
	default:
	}
	if core.CodeOf(err) != core.DeadlineExceeded || !strings.Contains(err.Error(), "Timed out waiting for notification") {
		t.Errorf("got %v", err)
	}
}

// TestEndlessTimeout: a limit that no Duration can hold is none.
func TestEndlessTimeout(t *testing.T) {
	for _, ms := range []int64{math.MaxInt64, math.MaxInt64/int64(time.Millisecond) + 1} {
		ctx, cancel := limit(t.Context(), ms)
		if _, limited := ctx.Deadline(); limited {
			t.Errorf("%d ms are a limit", ms)
		}
		cancel()
	}
}
