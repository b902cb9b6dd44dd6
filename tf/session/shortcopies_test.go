package session_test

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestCopiesOfFetchesMayNotBeToBeHad: a fetch that was fed, or is asked for twice, is
// copied. Without memory for that the step fails, as without memory for anything else.
func TestCopiesOfFetchesMayNotBeToBeHad(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s := open(t, g)
	c, err := s.MakeCallable([]tf.Output{x, y}, x, y.Neg())
	if err != nil {
		t.Fatal(err)
	}
	long, err := tf.Adopt(make([]float32, 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 32<<20))
	for name, run := range map[string]func() ([]*tf.Tensor, error){
		"a step that runs nothing": func() ([]*tf.Tensor, error) { return s.Run(t.Context(), session.Feeds{x: long}, x) },
		"a step": func() ([]*tf.Tensor, error) {
			return s.Run(t.Context(), session.Feeds{x: long, y: tf.Scalar[float32](1)}, x, y.Neg())
		},
		"a callable": func() ([]*tf.Tensor, error) { return c.Run(t.Context(), long, tf.Scalar[float32](1)) },
	} {
		if _, err := run(); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
