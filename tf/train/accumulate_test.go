package train_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestAccumulate: three steps of small batches make the update of one large batch.
func TestAccumulate(t *testing.T) {
	for _, ref := range []bool{false, true} {
		losses := func(o train.Optimizer, batches [][]float32) (w float32) {
			g := tf.NewGraph(tf.Strict())
			x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
			v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v", Reference: ref})
			step := train.Minimize(o, v.Value().Mul(x).Sub(float32(3)).Square().Mean(), train.Options{})
			s := begin(t, g, true)
			for _, b := range batches {
				feed, err := tf.FromSlice(b)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Run(t.Context(), session.Feeds{x: feed}, step); err != nil {
					t.Fatal(err)
				}
			}
			out, err := session.Fetch[float32](t.Context(), s, nil, v.Value())
			if err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
		adam := train.Adam{LearningRate: 0.1}
		small := [][]float32{{1, 2}, {3, 4}, {5, 6}, {1, 1}, {2, 2}, {3, 3}, {7, 7}}
		large := [][]float32{{1, 2, 3, 4, 5, 6}, {1, 1, 2, 2, 3, 3}}
		got, want := losses(train.Accumulate{Optimizer: adam, Steps: 3}, small), losses(adam, large)
		if d := got - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("ref %v: %v, want %v", ref, got, want)
		}
	}
}

func TestAccumulateRefuses(t *testing.T) {
	v := func(g *tf.Graph) []train.GradVar {
		v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
		return []train.GradVar{{Grad: tf.Dense(v.Value()), Var: v}}
	}
	adam := train.Adam{LearningRate: 0.1}
	if _, err := (train.Accumulate{Optimizer: adam}).ApplyGradients(v(tf.NewGraph())); !says(err, tf.InvalidArgument, "one step at least, got 0") {
		t.Error(err)
	}
	if _, err := (train.Accumulate{Steps: 2}).ApplyGradients(v(tf.NewGraph())); !says(err, tf.InvalidArgument, "needs the optimizer") {
		t.Error(err)
	}
	if _, err := (train.Accumulate{Optimizer: adam, Steps: 2}).ApplyGradients(v(eager.New())); !says(err, tf.Unimplemented, "in graphs") {
		t.Error(err)
	}
}

// TestAccumulateKeepsNames: what the optimizer keeps is called as without accumulation,
// so that checkpoints go over.
func TestAccumulateKeepsNames(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}, 2), tf.VariableOptions{Name: "v"})
	if op := (train.Accumulate{Optimizer: train.Adam{LearningRate: 0.1}, Steps: 2}).Minimize(v.Value().Square().Sum()); op.Err() != nil {
		t.Fatal(op.Err())
	}
	var names []string
	for _, x := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, x.Name())
	}
	if want := []string{"v", "accumulate_steps", "v/accumulate", "beta1_power", "beta2_power", "v/Adam", "v/Adam_1"}; !slices.Equal(names, want) {
		t.Errorf("the variables are %q, want %q", names, want)
	}
}
