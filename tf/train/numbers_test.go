package train_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestNumbersOfOptimizers: numbers that would make variables infinite, or no numbers, are
// refused; what TensorFlow's programs use is not.
func TestNumbersOfOptimizers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type minimizer interface {
		Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation
	}
	for want, os := range map[string][]minimizer{
		"the learning rate must be finite": {
			train.Adam{LearningRate: nan}, train.GradientDescent{LearningRate: inf}, train.Momentum{LearningRate: -inf, Momentum: 0.9},
		},
		"the momentum must be finite": {train.Momentum{LearningRate: 1, Momentum: nan}},
		"the epsilon must be finite":  {train.Adam{Epsilon: inf}},
		"beta1 must be in [0, 1)":     {train.Adam{Beta1: 1.5}, train.Adam{Beta1: nan}},
		"beta2 must be in [0, 1)":     {train.Adam{Beta2: -0.5}, train.Adam{Beta2: 1}},
		"":                            {train.GradientDescent{LearningRate: -1}, train.Momentum{LearningRate: 1, Momentum: 1.5}, train.Adam{Beta1: 0.5, Beta2: 0.75}},
	} {
		for i, o := range os {
			g := tf.NewGraph()
			w := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "w"})
			err := o.Minimize(w.Value().Square().Sum()).Err()
			if want == "" && err != nil || want != "" && (tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d: %v, want %q", i, err, want)
			}
		}
	}
}
