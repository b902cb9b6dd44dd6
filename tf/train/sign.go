package train

import (
	"cmp"
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// AddSign scales the gradient by alpha plus or minus 1, as it agrees with its
// running average (Bello et al., ICML 2017). Fields left 0 have TensorFlow's
// defaults; see [Zero].
type AddSign struct {
	LearningRate float64   // 0.1
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Alpha        float64   // 1
	Beta         float64   // 0.9, of the running average
	SignDecay    float64   // 1, what the scale is multiplied with
	Name         string    // of the scope and the slot: "AddSignOptimizer"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o AddSign) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/AddSignOptimizer.
func (o AddSign) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := signRule("AddSign", o.Name, rate(o.Rate, or(o.LearningRate, 0.1)), o.Beta, o.SignDecay)
	r.args["alpha"] = number(or(o.Alpha, 1))
	return r.apply(gvs)
}

// PowerSign scales the gradient by a power of Base, positive or negative as it
// agrees with its running average (Bello et al., ICML 2017). Fields left 0
// have TensorFlow's defaults; see [Zero].
type PowerSign struct {
	LearningRate float64   // 0.1
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Base         float64   // e
	Beta         float64   // 0.9, of the running average
	SignDecay    float64   // 1, what the exponent is multiplied with
	Name         string    // of the scope and the slot: "PowerSignOptimizer"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o PowerSign) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/PowerSignOptimizer.
func (o PowerSign) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	base := or(o.Base, math.E)
	if !(base > 0) {
		return nil, tf.Errorf(tf.InvalidArgument, "the Base of PowerSign must be positive, got %v", base)
	}
	r := signRule("PowerSign", o.Name, rate(o.Rate, or(o.LearningRate, 0.1)), o.Beta, o.SignDecay)
	r.args["logbase"] = number(math.Log(base))
	return r.apply(gvs)
}

func signRule(op, name string, lr arg, beta, decay float64) *rule {
	return &rule{
		name: cmp.Or(name, op+"Optimizer"), op: op,
		slots:  []slot{{"m", zerosLike}},
		args:   map[string]arg{"lr": lr, "beta": number(or(beta, 0.9)), "sign_decay": number(or(decay, 1))},
		sparse: noSparse,
	}
}
