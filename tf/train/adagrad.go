package train

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
)

// Adagrad divides the rate by the root of the sum of all squared gradients
// (Duchi et al., JMLR 2011).
type Adagrad struct {
	LearningRate       float64
	Rate               tf.Output // computed by the graph, instead of LearningRate
	InitialAccumulator float64   // 0.1 if it is left 0
	Name               string    // of the scope and the slot: "Adagrad"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o Adagrad) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/Adagrad.
func (o Adagrad) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "Adagrad"), op: "Adagrad",
		slots: []slot{{"accum", summed(or(o.InitialAccumulator, 0.1))}},
		args:  map[string]arg{"lr": rate(o.Rate, o.LearningRate)},
	}
	return r.apply(gvs)
}

// AdagradDA is Adagrad by dual averaging, which makes models sparse with L1
// (Duchi et al., JMLR 2011).
type AdagradDA struct {
	LearningRate       float64
	Rate               tf.Output // computed by the graph, instead of LearningRate
	GlobalStep         *tf.Variable
	InitialAccumulator float64 // 0.1 if it is left 0
	L1, L2             float64
	Name               string // of the scope and the slots: "AdagradDA"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o AdagradDA) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/AdagradDA and v/AdagradDA_1.
// GlobalStep counts the updates; it has to be given, and advanced by others.
func (o AdagradDA) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if o.GlobalStep == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "AdagradDA needs GlobalStep, the variable that counts the updates")
	}
	r := &rule{
		name: cmp.Or(o.Name, "AdagradDA"), op: "AdagradDA",
		slots: []slot{{"gradient_accumulator", zerosLike}, {"gradient_squared_accumulator", summed(or(o.InitialAccumulator, 0.1))}},
		args: map[string]arg{
			"lr": rate(o.Rate, o.LearningRate), "l1": number(o.L1), "l2": number(o.L2),
			// The update that is being made counts.
			"global_step": func(*tf.Variable) tf.Output { return asInt64(o.GlobalStep.Value().Add(oneLike(o.GlobalStep))) },
		},
	}
	return r.apply(gvs)
}

func asInt64(x tf.Output) tf.Output {
	if x.DType() == tf.Int64 {
		return x
	}
	return tf.Apply(nil, "Cast", []tf.Output{x}, tf.Attr("DstT", tf.Int64)).Output(0)
}

// Adadelta is Adagrad with a window and no rate to choose (Zeiler,
// arXiv:1212.5701). Fields left 0 have TensorFlow's defaults; see [Zero].
type Adadelta struct {
	LearningRate float64   // 0.001
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Rho          float64   // 0.95
	Epsilon      float64   // 1e-8
	Name         string    // of the scope and the slots: "Adadelta"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o Adadelta) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and the slots v/Adadelta and v/Adadelta_1.
func (o Adadelta) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	r := &rule{
		name: cmp.Or(o.Name, "Adadelta"), op: "Adadelta",
		slots: []slot{{"accum", zerosLike}, {"accum_update", zerosLike}},
		args: map[string]arg{
			"lr": rate(o.Rate, or(o.LearningRate, 0.001)), "rho": finite("rho", or(o.Rho, 0.95)), "epsilon": finite("epsilon", or(o.Epsilon, 1e-8)),
		},
	}
	return r.apply(gvs)
}
