package train

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
)

// Adam is the optimizer of Kingma and Ba (ICLR 2015), in TensorFlow's form:
// the step size is corrected for the bias of both moments and epsilon is
// added to the uncorrected root. Fields left 0 have TensorFlow's defaults.
type Adam struct {
	LearningRate float64 // 0.001
	Beta1, Beta2 float64 // 0.9, 0.999
	Epsilon      float64 // 1e-8
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o Adam) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

func (o Adam) defaults() Adam {
	return Adam{cmp.Or(o.LearningRate, 0.001), cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999), cmp.Or(o.Epsilon, 1e-8)}
}

// ApplyGradients adds the updates, the slots v/Adam and v/Adam_1, and the
// variables beta1_power and beta2_power.
func (o Adam) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if err := checkGrads(gvs); err != nil {
		return nil, err
	}
	o = o.defaults()
	p1, p2 := power(gvs[0].Var, "beta1_power", o.Beta1), power(gvs[0].Var, "beta2_power", o.Beta2)
	op := update("Adam", gvs,
		func(gv GradVar) *tf.Operation { return o.one(gv, p1, p2) },
		func(updates []*tf.Operation) []*tf.Operation {
			return []*tf.Operation{decay(p1, o.Beta1, updates), decay(p2, o.Beta2, updates)}
		})
	return op, op.Err()
}

func (o Adam) one(gv GradVar, p1, p2 *tf.Variable) *tf.Operation {
	v := gv.Var
	m := v.Slot("Adam", func() tf.Output { return zerosLike(v) })
	u := v.Slot("Adam_1", func() tf.Output { return zerosLike(v) })
	in := []tf.Output{v.Handle(), m.Handle(), u.Handle(), p1.Value(), p2.Value(),
		constLike(v, o.LearningRate), constLike(v, o.Beta1), constLike(v, o.Beta2), constLike(v, o.Epsilon), gv.Grad.Output()}
	return tf.Apply(nil, "ResourceApplyAdam", in, tf.Name("ResourceApplyAdam"))
}

// power is the running power of a decay rate; it lives with the first variable.
func power(first *tf.Variable, name string, beta float64) *tf.Variable {
	return first.Shared(name, func() tf.Output { return constLike(first, beta) })
}

// decay multiplies p by beta once all updates have used it.
func decay(p *tf.Variable, beta float64, after []*tf.Operation) *tf.Operation {
	next := tf.Apply(nil, "Mul", []tf.Output{p.Value(), constLike(p, beta)}).Output(0)
	return p.Assign(next, tf.After(after...), tf.Name("Assign"))
}
