package cluster_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	panics := core.OpDef{Name: "TestPanics", Out: "y: float", Attrs: "at: string", Stateful: true, NoGrad: core.NotDifferentiable}
	panics.Shape = func(c *core.Infer) error {
		if c.Str("at") == "a missing output" {
			c.Set(3, nil)
		}
		return nil
	}
	panics.Kernels = core.AnyType(func(n *core.Node) (core.Kernel, error) {
		if n.Str("at") == "the kernel's making" {
			panic("on purpose")
		}
		return core.Compute(func(*core.OpContext) error { panic("on purpose") }), nil
	})
	core.Register(panics)
}

// TestPanicsEndStepsOnly: what panics on behalf of one client is that client's
// error. The server goes on to serve others.
func TestPanicsEndStepsOnly(t *testing.T) {
	r := start(t, map[string]int{"worker": 1, "ps": 1})
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{3}), tf.VariableOptions{Name: "kept"})
	other := open(t, g, r.servers["worker:0"].Target())
	if _, err := other.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{"/job:worker/task:0", "/job:ps/task:0"} {
		for _, at := range []string{"the kernel's making", "the kernel"} {
			g := tf.NewGraph()
			y := tf.Apply(g, "TestPanics", nil, tf.Attr("at", at), tf.OnDevice(device)).Output(0)
			_, err := open(t, g, r.servers["worker:0"].Target()).Run(t.Context(), nil, y.Neg())
			if tf.CodeOf(err) != tf.Internal || !strings.Contains(err.Error(), "panicked: on purpose") {
				t.Errorf("%s on %s: %v", at, device, err)
			}
		}
	}
	if got, err := other.Run(t.Context(), nil, v.Value()); err != nil || got[0].At(0) != float32(3) {
		t.Errorf("another client's variable: %v, %v", got, err)
	}
	bad := tf.Apply(tf.NewGraph(), "TestPanics", nil, tf.Attr("at", "a missing output"))
	if err := bad.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "there is no output 3") {
		t.Errorf("an output that there is not: %v", err)
	}
}
