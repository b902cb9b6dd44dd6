package master_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// counter is a graph with a variable on the parameter server, x + v and v += x
// on a worker.
func counter() *tf.Graph {
	g := tf.NewGraph(tf.Strict())
	var v *tf.Variable
	g.Device("/job:ps/task:0", func() {
		v = tf.NewVariable(ops.Scalar[float32](g, 10), tf.VariableOptions{Name: "v"})
	})
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	ops.AddV2(x, v.Value(), tf.Name("sum"), tf.OnDevice("/job:worker/task:1"))
	ops.AssignAddVariableOp(v.Handle(), x, tf.Name("add"))
	return g
}

func TestRunAcrossTasks(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	s := connect(t, c.master(worker0), counter(), nil)
	s.must("v/Assign")
	two := feeds{"x:0": core.Scalar[float32](2)}
	if got := s.value("sum:0", two); got != 12 {
		t.Errorf("x + v = %v, want 12", got)
	}
	for range 5 {
		if _, err := s.run(two, nil, "add"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.value("sum", two); got != 22 { // a name without its output number
		t.Errorf("x + v after five additions = %v, want 22", got)
	}
}

// A limit longer than any time there is is none.
func TestEndlessTimeout(t *testing.T) {
	c := newCluster(t, worker0, worker1, ps0)
	s := connect(t, c.master(worker0), toAndFro(), nil)
	req := s.request(feeds{"x": core.Scalar[float32](3)}, []string{"y:0"})
	req.Options = &pb.RunOptions{TimeoutInMs: math.MaxInt64}
	if _, err := s.m.RunStep(t.Context(), req); err != nil {
		t.Error(err)
	}
}

// TestResetIsRefused: one whose filters are wrong ends no session.
func TestResetIsRefused(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), toAndFro(), nil)
	_, err := s.m.Reset(t.Context(), &pb.ResetRequest{DeviceFilters: []string{"nonsense"}})
	check(t, "a reset of nonsense", err, core.InvalidArgument, "nonsense")
	_, err = s.m.ListDevices(t.Context(), &pb.ListDevicesRequest{SessionHandle: s.handle})
	check(t, "the session", err, core.OK, "")
}
