package train

import "github.com/gorge-tf/gorge/tf"

// Momentum is gradient descent with momentum: a = momentum·a + g;
// v -= rate·a, or with Nesterov v -= rate·g + rate·momentum·a.
// (Polyak 1964; Sutskever et al., ICML 2013.)
type Momentum struct {
	LearningRate, Momentum float64
	Nesterov               bool
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) against the gradient of loss.
func (o Momentum) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/Momentum.
func (o Momentum) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if err := checkGrads(gvs); err != nil {
		return nil, err
	}
	op := update("Momentum", gvs, o.one, nil)
	return op, op.Err()
}

func (o Momentum) one(gv GradVar) *tf.Operation {
	v := gv.Var
	accum := v.Slot("Momentum", func() tf.Output { return zerosLike(v) })
	in := []tf.Output{v.Handle(), accum.Handle(), constLike(v, o.LearningRate), gv.Grad.Output(), constLike(v, o.Momentum)}
	return tf.Apply(nil, "ResourceApplyMomentum", in, tf.Name("ResourceApplyMomentum"), tf.Attr("use_nesterov", o.Nesterov))
}
