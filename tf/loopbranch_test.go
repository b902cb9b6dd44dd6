package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestGradientsOfBranchesWithLoops: in a loop, a branch of a conditional within another one has a
// loop of its own. What the other branch remembers is only taken back where the outer conditional
// has come to it, even if both ask the same in all iterations. TensorFlow fails.
func TestGradientsOfBranchesWithLoops(t *testing.T) {
	g := tf.NewGraph()
	x, p := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Bool, tf.Shape{})
	cond := func(a, b func() tf.Output) tf.Output {
		return tf.Cond(p, func() []tf.Output { return []tf.Output{a()} }, func() []tf.Output { return []tf.Output{b()} })[0]
	}
	loop := func(n int, v tf.Output, body func(v tf.Output) tf.Output) tf.Output {
		return tf.While([]tf.Output{ops.Scalar(g, int32(0)), v}, func(v []tf.Output) tf.Output { return v[0].Less(n) },
			func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Add(1), body(v[1])} })[1]
	}
	y := loop(3, x, func(v tf.Output) tf.Output {
		return cond(func() tf.Output { return ops.Square(v) }, func() tf.Output {
			return cond(func() tf.Output { return ops.Mul(ops.Tanh(v), v) }, func() tf.Output {
				return loop(2, v, func(v tf.Output) tf.Output { return ops.Mul(v, v.Add(1)) })
			})
		})
	})
	dx, err := tf.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	atTwo := float32(1) // v·(v + 1), six times
	for v, i := float32(2), 0; i < 6; i++ {
		atTwo, v = atTwo*(2*v+1), v*(v+1)
	}
	for taken, want := range map[bool]float32{true: 8 * 128, false: atTwo} {
		out, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(2)), p: tf.Scalar(taken)}, dx[0])
		if err != nil {
			t.Errorf("taken %v: %v", taken, err)
		} else if got := tf.Data[float32](out[0])[0]; got < 0.999*want || got > 1.001*want {
			t.Errorf("taken %v: the gradient is %v, want %v", taken, got, want)
		}
	}
}
