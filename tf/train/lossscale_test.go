package train_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestLossScale: steps whose gradients overflow are left out and halve the factor, and
// good ones in a row double it; the result of training does not depend on the factor.
func TestLossScale(t *testing.T) {
	for name, o := range map[string]train.Optimizer{
		"descent": train.GradientDescent{LearningRate: 0.25}, "adam": train.Adam{LearningRate: 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, tf.Shape{})
			v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
			scaled, err := train.NewLossScaleOptimizer(g, o, train.LossScaling{Initial: 8, GrowthSteps: 2})
			if err != nil {
				t.Fatal(err)
			}
			step := scaled.Minimize(v.Value().Mul(x))
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
				t.Fatal(err)
			}
			before := float32(1)
			for i, c := range []struct {
				x, scale float32
				moves    bool
			}{{1, 8, true}, {1, 16, true}, {3e38, 8, false}, {1, 8, true}, {3e38, 4, false}, {1, 4, true}, {1, 8, true}} {
				if _, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(c.x)}, step); err != nil {
					t.Fatal(err)
				}
				out, err := s.Run(t.Context(), nil, v.Value(), scaled.Scale())
				if err != nil {
					t.Fatal(err)
				}
				now := tf.Data[float32](out[0])[0]
				if moved := now != before; moved != c.moves || tf.Data[float32](out[1])[0] != c.scale {
					t.Errorf("step %d: v moved: %v (%v), the factor is %v, want %v, %v", i, moved, now, out[1], c.moves, c.scale)
				}
				if name == "descent" && c.moves && before-now != 0.25 {
					t.Errorf("step %d: v went from %v to %v", i, before, now)
				}
				before = now
			}
		})
	}
}

// TestLossScaleRefuses: factors that mean nothing are errors.
func TestLossScaleRefuses(t *testing.T) {
	for _, s := range []train.LossScaling{{Fixed: -1}, {Growth: 1}, {GrowthSteps: -3}} {
		if _, err := train.NewLossScaleOptimizer(tf.NewGraph(), train.Adam{}, s); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
