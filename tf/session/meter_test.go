package session_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestStepMeter: a run tells the meter of its context what it has held, about as many
// bytes for each row.
func TestStepMeter(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 1})
	wide := ops.MatMul(x, ops.Const(g, make([]float32, 1<<18), 1, 1<<18)) // a megabyte for each row
	y := ops.MatMul(ops.Relu(wide), ops.Const(g, make([]float32, 1<<18), 1<<18, 1))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.MakeCallable([]tf.Output{x}, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int64{1, 8, 2} {
		in, err := tf.FromSlice(make([]float32, rows), int(rows), 1)
		if err != nil {
			t.Fatal(err)
		}
		var m memory.StepMeter
		if _, err := c.Run(memory.WithStepMeter(t.Context(), &m), in); err != nil {
			t.Fatal(err)
		}
		if got := m.Most() / rows; got < 1<<20 || got > 3<<20 {
			t.Errorf("%d rows took %d bytes each", rows, got)
		}
	}
}
