package train_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestPowersOfOptimizers: optimizers of different names correct for the bias of their own
// averages, whatever another one does to the same variable. The first step of each is as
// long as the rate.
func TestPowersOfOptimizers(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
	loss := v.Value().Square()
	first := train.Adam{LearningRate: 0.1, Name: "first"}.Minimize(loss)
	second := train.Adam{LearningRate: 0.1, Name: "second", Beta1: 0.5}.Minimize(loss)
	s := begin(t, g, true)
	for _, op := range []*tf.Operation{first, second} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Run(t.Context(), nil, v.Value())
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[float32](out[0])[0]; got < 0.799 || got > 0.801 {
		t.Errorf("after a step of each the variable is %v, want 0.8", got)
	}
	if g.Operation("beta1_power_1") == nil {
		t.Error("the second optimizer has no power of its own")
	}
}

// TestNumbersOfOtherTypes: powers are float32 and the numbers of optimizers pass through
// float32, whatever the type of the variable is. The values are TensorFlow's, after three
// steps.
func TestNumbersOfOtherTypes(t *testing.T) {
	for name, c := range map[string]struct {
		o    train.Optimizer
		want float64
	}{
		"GradientDescent": {train.GradientDescent{LearningRate: 0.1}, 0.5119999932050705},
		"Momentum":        {train.Momentum{LearningRate: 0.1, Momentum: 0.9}, 0.061999996989965556},
		"Adam":            {train.Adam{LearningRate: 0.1, Epsilon: 1e-3}, 0.7052551750812266},
		"Adagrad":         {train.Adagrad{LearningRate: 0.1}, 0.7822991889287496},
		"Adadelta":        {train.Adadelta{LearningRate: 1, Epsilon: 1e-2}, 0.10273698577831347},
	} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar(g, 1.0), tf.VariableOptions{Name: "v"})
		step := train.Minimize(c.o, v.Value().Cast(tf.Float32).Square(), train.Options{})
		s := begin(t, g, true)
		for range 3 {
			if _, err := s.Run(t.Context(), nil, step); err != nil {
				t.Fatal(name, err)
			}
		}
		out, err := s.Run(t.Context(), nil, v.Value())
		if err != nil {
			t.Fatal(name, err)
		}
		if got := tf.Data[float64](out[0])[0]; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: the variable is %v, want %v", name, got, c.want)
		}
		for _, x := range tf.Variables(g, tf.GlobalVariables) {
			if strings.HasPrefix(x.Name(), "beta") && x.DType() != tf.Float32 {
				t.Errorf("%s: %s is %v, want float32", name, x.Name(), x.DType())
			}
		}
	}
}
