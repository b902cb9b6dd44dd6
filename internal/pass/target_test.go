package pass_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestTargetsRun: a target runs, and fails, although what waits for it does not need its value.
func TestTargetsRun(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Int32, tf.Shape{2}), ops.Placeholder(g, tf.Int32, tf.Shape{2})
	d := ops.FloorDiv(x, y)
	var n tf.Output
	g.ControlDependencies([]*tf.Operation{d.Operation()}, func() { n = ops.Neg(x) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	two := func(v int32) *tf.Tensor {
		x, err := tf.FromSlice([]int32{v, v})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for divisor, fails := range map[int32]bool{0: true, 2: false} {
		_, err := s.Run(t.Context(), session.Feeds{x: two(4), y: two(divisor)}, n, d.Operation())
		if (err != nil) != fails {
			t.Errorf("divided by %d: error %v, want one: %v", divisor, err, fails)
		}
	}
}
