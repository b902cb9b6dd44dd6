package train

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
)

// GradientDescent is plain stochastic gradient descent: v -= rate·g.
type GradientDescent struct {
	LearningRate float64
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Name         string    // of the scope: "GradientDescent"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) against the gradient of loss.
func (o GradientDescent) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates.
func (o GradientDescent) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "GradientDescent"), op: "GradientDescent",
		args: map[string]arg{"alpha": rate(o.Rate, o.LearningRate)}, linear: true,
		sparse: func(r *rule, v *tf.Variable, s tf.IndexedSlices) *tf.Operation {
			return scatterAdd(v, s.Indices, s.Values.Neg().Mul(r.args["alpha"](v)))
		},
	}
	return r.apply(gvs)
}

// Momentum is gradient descent with momentum: a = momentum·a + g;
// v -= rate·a, or with Nesterov v -= rate·g + rate·momentum·a.
// (Polyak 1964; Sutskever et al., ICML 2013.)
type Momentum struct {
	LearningRate, Momentum float64
	Rate                   tf.Output // computed by the graph, instead of LearningRate
	Nesterov               bool
	Name                   string // of the scope and the slot: "Momentum"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) against the gradient of loss.
func (o Momentum) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/Momentum.
func (o Momentum) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "Momentum"), op: "Momentum",
		attrs: []tf.Option{tf.Attr("use_nesterov", o.Nesterov)},
		slots: []slot{{"accum", zerosLike}},
		args:  map[string]arg{"lr": rate(o.Rate, o.LearningRate), "momentum": finite("momentum", o.Momentum)},
	}
	return r.apply(gvs)
}

// RMSProp divides the gradient by a running average of its magnitude (Tieleman
// and Hinton 2012). Fields left 0 have TensorFlow's defaults; see [Zero].
type RMSProp struct {
	LearningRate float64
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Decay        float64   // 0.9
	Momentum     float64   // 0
	Epsilon      float64   // 1e-10
	Centered     bool      // estimate the variance, not the second moment (Graves 2013)
	Name         string    // of the scope and the slots: "RMSProp"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o RMSProp) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/RMSProp (the average of
// squares), v/RMSProp_1 (that of gradients, if centered) and the momentum.
func (o RMSProp) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "RMSProp"), op: "RMSProp",
		slots: []slot{{"ms", filled(1)}, {"mom", zerosLike}},
		args: map[string]arg{
			"lr": rate(o.Rate, o.LearningRate), "rho": finite("rho", or(o.Decay, 0.9)),
			"momentum": finite("momentum", o.Momentum), "epsilon": finite("epsilon", or(o.Epsilon, 1e-10)),
		},
	}
	if o.Centered {
		r.op, r.slots = "CenteredRMSProp", []slot{{"ms", filled(1)}, {"mg", zerosLike}, {"mom", zerosLike}}
	}
	return r.apply(gvs)
}
