package train_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestDecayAfterGradient: the gradient is that at the variable before it decays, however
// late the loss reads it.
func TestDecayAfterGradient(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
	start := ops.Placeholder(g, tf.Float32, tf.Shape{})
	slow := start
	for range 30 {
		slow = slow.Sin()
	}
	x := v.Read(tf.After(slow.Operation()))
	gvs, err := train.ComputeGradients(x.Mul(x), v)
	if err != nil {
		t.Fatal(err)
	}
	op, err := train.AdamW{WeightDecay: 0.5}.ApplyGradients(gvs)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, g, true)
	out, err := s.Run(t.Context(), session.Feeds{start: tf.Scalar(float32(1))}, gvs[0].Grad.Output(), op)
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[float32](out[0])[0]; got != 2 {
		t.Errorf("the gradient is %v, want 2", got)
	}
}
