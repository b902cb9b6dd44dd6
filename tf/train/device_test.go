package train_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// variablesOf adds variables of the given numbers of floats to a new graph and
// returns the devices that their handles ask for.
func variablesOf(t *testing.T, choose func(*core.Node) string, sizes ...int) (devices []string) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	g.DeviceFunc(choose, func() {
		for _, n := range sizes {
			v := tf.NewVariable(ops.Const(g, make([]float32, n)), tf.VariableOptions{Name: "v"})
			devices = append(devices, v.Handle().Operation().Device)
		}
	})
	return devices
}

func TestStrategies(t *testing.T) {
	task := func(n ...string) (out []string) {
		for _, s := range n {
			out = append(out, "/job:ps/task:"+s)
		}
		return out
	}
	sizes := []int{8, 4, 2, 2, 1, 1}
	for name, c := range map[string]struct {
		strategy train.PSStrategy
		want     []string
	}{
		"in turn":          {nil, task("0", "1", "2", "0", "1", "2")},
		"by bytes":         {train.GreedyLoadBalancing(3, nil), task("0", "1", "2", "2", "1", "2")},
		"by a load of one": {train.GreedyLoadBalancing(3, func(*core.Node) float64 { return 1 }), task("0", "1", "2", "0", "1", "2")},
	} {
		spread := train.ReplicaDevices{PSTasks: 3, Strategy: c.strategy}
		if got := variablesOf(t, spread.Setter(), sizes...); !slices.Equal(got, c.want) {
			t.Errorf("%s: variables of %v floats go to %v, want %v", name, sizes, got, c.want)
		}
	}
	if got := variablesOf(t, train.ReplicaDevices{}.Setter(), 1); got[0] != "" {
		t.Errorf("without parameter servers a variable asks for %q", got[0])
	}
}

// What operations ask for themselves counts more than what the function says,
// field by field.
func TestReplicaDevicesMerge(t *testing.T) {
	for _, c := range []struct {
		name, op, asked string
		spread          train.ReplicaDevices
		want            string
	}{
		{"a constant", "Const", "", train.ReplicaDevices{PSTasks: 2, Worker: "/job:worker/task:3"}, "/job:worker/task:3"},
		{"a constant on a device", "Const", "/device:CPU:1", train.ReplicaDevices{PSTasks: 2}, "/job:worker/device:CPU:1"},
		{"a variable", "VarHandleOp", "", train.ReplicaDevices{PSTasks: 2}, "/job:ps/task:0"},
		{"a variable on a device", "VarHandleOp", "/device:CPU:1", train.ReplicaDevices{PSTasks: 2}, "/job:ps/task:0/device:CPU:1"},
		{"a variable in the job", "VarHandleOp", "/job:ps", train.ReplicaDevices{PSTasks: 2}, "/job:ps/task:0"},
		{"a variable of a task", "VarHandleOp", "/job:ps/task:1", train.ReplicaDevices{PSTasks: 2}, "/job:ps/task:1"},
		{"a variable of another job", "VarHandleOp", "/job:chief", train.ReplicaDevices{PSTasks: 2}, "/job:chief"},
		{"another job of servers", "VarHandleOp", "", train.ReplicaDevices{PSTasks: 2, PS: "/job:store"}, "/job:store/task:0"},
		{"operations of one's own", "Const", "", train.ReplicaDevices{PSTasks: 2, Ops: []string{"Const"}}, "/job:ps/task:0"},
	} {
		g := tf.NewGraph(tf.Strict())
		var device string
		g.DeviceFunc(c.spread.Setter(), func() {
			if c.op == "Const" {
				device = ops.Scalar[float32](g, 1, tf.OnDevice(c.asked)).Operation().Device
			} else {
				device = tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v", Device: c.asked}).Handle().Operation().Device
			}
		})
		if device != c.want {
			t.Errorf("%s asks for %q, want %q", c.name, device, c.want)
		}
	}
}

// Whatever works on a variable stays with it, so that a training graph can be
// placed: its slots, its updates, its reads.
func TestReplicaDevicesTrain(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	g.DeviceFunc(train.ReplicaDevices{PSTasks: 2}.Setter(), func() {
		a := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "a"})
		b := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "b"})
		train.Adam{LearningRate: 0.1}.Minimize(ops.Square(ops.Mul(a.Value(), b.Value())))
	})
	for _, op := range g.Operations() {
		slot := strings.Contains(op.Name, "Adam") || strings.Contains(op.Name, "beta")
		if op.OpName() == "VarHandleOp" && strings.HasPrefix(op.Name, "b") && strings.Contains(op.Name, "/") && slot && !strings.HasPrefix(op.Device, "/job:ps/task:1") {
			t.Errorf("%s, a slot of b, asks for %q", op.Name, op.Device)
		}
		if strings.HasPrefix(op.OpName(), "ResourceApply") && strings.Contains(op.Device, "worker") {
			t.Errorf("%s (%s) asks for %q, away from its variable", op.Name, op.OpName(), op.Device)
		}
	}
}

// TestNoParameterServer: who chooses none is told by the graph.
func TestNoParameterServer(t *testing.T) {
	nan := func(*core.Node) float64 { return math.NaN() }
	for name, strategy := range map[string]train.PSStrategy{
		"in turn":          train.RoundRobin(0),
		"negative in turn": train.RoundRobin(-2),
		"by load":          train.GreedyLoadBalancing(0, nil),
		"negative by load": train.GreedyLoadBalancing(-1, nil),
		"by no number":     train.GreedyLoadBalancing(1, nan),
		"one's own":        func(*core.Node) int { return -1 },
	} {
		g := tf.NewGraph()
		g.DeviceFunc(train.ReplicaDevices{PSTasks: 2, Strategy: strategy}.Setter(), func() {
			for range 2 {
				tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{Name: "v"})
			}
		})
		if err := g.Err(); !says(err, tf.InvalidArgument, "the strategy must choose one of 2 parameter servers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
