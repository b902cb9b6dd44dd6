package train

import "github.com/gorge-tf/gorge/tf"

// GradientDescent is plain stochastic gradient descent: v -= rate·g.
type GradientDescent struct {
	LearningRate float64
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) against the gradient of loss.
func (o GradientDescent) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates.
func (o GradientDescent) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if err := checkGrads(gvs); err != nil {
		return nil, err
	}
	op := update("GradientDescent", gvs, o.one, nil)
	return op, op.Err()
}

func (o GradientDescent) one(gv GradVar) *tf.Operation {
	rate := constLike(gv.Var, o.LearningRate)
	return tf.Apply(nil, "ResourceApplyGradientDescent", []tf.Output{gv.Var.Handle(), rate, gv.Grad.Output()},
		tf.Name("ResourceApplyGradientDescent"))
}
