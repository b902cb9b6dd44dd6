package pass_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestConstantsOfBranches: what is multiplied by a constant of a branch is dead if the branch
// is not taken, although the product is the other factor.
func TestConstantsOfBranches(t *testing.T) {
	g := tf.NewGraph()
	x, p := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Bool, tf.Shape{})
	v := tf.NewVariable(ops.Scalar(g, float32(5)), tf.VariableOptions{Name: "v"})
	_, yes := ops.Switch(x, p)
	pivot := ops.Identity(yes)
	var one tf.Output
	g.ControlDependencies([]*tf.Operation{pivot.Operation()}, func() { one = ops.Scalar(g, float32(1)) })
	set := ops.AssignVariableOp(v.Handle(), ops.Mul(ops.Exp(x), one))
	read := ops.ReadVariableOp(v.Handle(), tf.Float32)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		taken bool
		want  float32
	}{{false, 5}, {true, 1}} {
		if _, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(0)), p: tf.Scalar(c.taken)}, set); err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), nil, read)
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float32](out[0])[0]; got != c.want {
			t.Errorf("branch taken: %v: the variable is %v, want %v", c.taken, got, c.want)
		}
	}
}
