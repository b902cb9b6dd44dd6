package train_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestZeroIsNoDefault: schedules take Zero for what it says. An End is 0 without it.
func TestZeroIsNoDefault(t *testing.T) {
	for want, s := range map[float32]train.Schedule{
		0:   train.PolynomialDecay{LearningRate: 1, Steps: 10},
		1:   train.PolynomialDecay{LearningRate: 1, Steps: 100, Power: train.Zero},
		0.5: train.LinearCosineDecay{LearningRate: 1, Alpha: 0.5, Beta: train.Zero, Periods: train.Zero, Steps: 10},
	} {
		if got := rateAt(t, s, 10); got != want {
			t.Errorf("%+v has the rate %v, want %v", s, got, want)
		}
	}
}

// TestZeroWhereNoneMayBe: what is divided by must not be 0, nor a rate that trains.
func TestZeroWhereNoneMayBe(t *testing.T) {
	for name, o := range map[string]train.Optimizer{
		"initial_accumulator_value must be positive: 0":  train.Adagrad{LearningRate: 1, InitialAccumulator: train.Zero},
		"initial_accumulator_value must be positive: -1": train.ProximalAdagrad{LearningRate: 1, InitialAccumulator: -1},
		"needs a learning rate":                          train.Adam{LearningRate: train.Zero},
		"the Base of PowerSign must be positive":         train.PowerSign{Base: train.Zero},
	} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
		gvs := []train.GradVar{{Var: v, Grad: tf.Dense(ops.Scalar[float32](g, 1))}}
		_, err := o.ApplyGradients(gvs)
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want %q", o, err, name)
		}
	}
}
