package train

import (
	"cmp"
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// FTRL follows the regularized leader, by coordinate (McMahan et al., KDD
// 2013). With L2Shrinkage it is TensorFlow's second form of it, which adds a
// penalty on the magnitude to the gradient.
type FTRL struct {
	LearningRate        float64
	Rate                tf.Output // computed by the graph, instead of LearningRate
	LearningRatePower   float64   // 0 stands for -0.5; for a fixed rate see FixedRate
	FixedRate           bool      // the power is 0: the rate does not fall
	InitialAccumulator  float64   // 0.1 if it is left 0; see [Zero]
	L1, L2, L2Shrinkage float64
	Beta                float64
	Name                string // of the scope and the slots: "Ftrl"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o FTRL) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/Ftrl and v/Ftrl_1.
func (o FTRL) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	power := or(o.LearningRatePower, -0.5)
	if o.FixedRate {
		power = 0
	}
	if err := o.check(power); err != nil {
		return nil, err
	}
	r := &rule{
		name: cmp.Or(o.Name, "Ftrl"), op: "Ftrl",
		slots: []slot{{"accum", filled(or(o.InitialAccumulator, 0.1))}, {"linear", zerosLike}},
		args: map[string]arg{
			"lr": rate(o.Rate, o.LearningRate), "l1": number(o.L1), "l2": o.l2(), "l2_shrinkage": number(o.L2Shrinkage), "lr_power": number(power),
		},
	}
	if o.L2Shrinkage > 0 {
		r.op = "FtrlV2"
	}
	return r.apply(gvs)
}

// check refuses what TensorFlow refuses.
func (o FTRL) check(power float64) error {
	for _, f := range []need{
		{"initial_accumulator_value", o.InitialAccumulator}, {"l1_regularization_strength", o.L1},
		{"l2_regularization_strength", o.L2}, {"l2_shrinkage_regularization_strength", o.L2Shrinkage},
	} {
		if f.value < 0 {
			return tf.Errorf(tf.InvalidArgument, "%s %f needs to be positive or zero", f.field, f.value)
		}
	}
	if power > 0 {
		return tf.Errorf(tf.InvalidArgument, "learning_rate_power must be less than or equal to 0. Received: %v", power)
	}
	return nil
}

// l2 has beta in it, which the training op does not know.
func (o FTRL) l2() arg {
	if o.Rate.IsZero() || o.Beta == 0 {
		return number(o.L2 + o.Beta/(2*math.Max(o.LearningRate, 1e-36)))
	}
	return func(v *tf.Variable) tf.Output {
		least := castLike(v, o.Rate).Maximum(constLike(v, 1e-36))
		return number(o.L2)(v).Add(number(o.Beta)(v).Div(constLike(v, 2).Mul(least)))
	}
}

// ProximalGradientDescent is gradient descent with L1 and L2 penalties that
// are applied exactly (Duchi and Singer, NIPS 2009).
type ProximalGradientDescent struct {
	LearningRate float64
	Rate         tf.Output // computed by the graph, instead of LearningRate
	L1, L2       float64
	Name         string // of the scope: "ProximalGradientDescent"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o ProximalGradientDescent) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates.
func (o ProximalGradientDescent) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "ProximalGradientDescent"), op: "ProximalGradientDescent",
		args: map[string]arg{"alpha": rate(o.Rate, o.LearningRate), "l1": number(o.L1), "l2": number(o.L2)},
	}
	return r.apply(gvs)
}

// ProximalAdagrad is Adagrad with penalties as in ProximalGradientDescent.
type ProximalAdagrad struct {
	LearningRate       float64
	Rate               tf.Output // computed by the graph, instead of LearningRate
	InitialAccumulator float64   // 0.1 if it is left 0
	L1, L2             float64
	Name               string // of the scope and the slot: "ProximalAdagrad"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o ProximalAdagrad) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/ProximalAdagrad.
func (o ProximalAdagrad) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "ProximalAdagrad"), op: "ProximalAdagrad",
		slots: []slot{{"accum", summed(or(o.InitialAccumulator, 0.1))}},
		args:  map[string]arg{"lr": rate(o.Rate, o.LearningRate), "l1": number(o.L1), "l2": number(o.L2)},
	}
	return r.apply(gvs)
}
