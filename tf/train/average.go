package train

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An ExponentialMovingAverage keeps running averages of variables: average =
// Decay·average + (1-Decay)·variable. They are often better at inference than
// the variables themselves (Polyak and Juditsky 1992).
type ExponentialMovingAverage struct {
	Decay float64
	// NumUpdates, if given, makes the decay min(Decay, (1+n)/(10+n)): averages
	// move faster in the beginning.
	NumUpdates tf.Output
	// Step is NumUpdates as a variable, the global step say. It is read with the
	// variables, so after the updates that Apply's operation is made to wait for;
	// an output of Step.Value made before them may be the number of before.
	Step *tf.Variable
	Name string // "ExponentialMovingAverage"

	averages map[*tf.Variable]*tf.Variable
}

func (e *ExponentialMovingAverage) name() string {
	if e.Name == "" {
		return "ExponentialMovingAverage"
	}
	return e.Name
}

// Apply makes the averages of vars (all trainable variables of g if there are
// none), which begin with the variables' initial values, and adds an operation
// that brings them up to date. It is meant to run after the variables' updates.
func (e *ExponentialMovingAverage) Apply(g *tf.Graph, vars ...*tf.Variable) *tf.Operation {
	if g == nil {
		return tf.Failed(nil, e.name(), noGraph("an average"))
	}
	if len(vars) == 0 {
		vars = tf.Variables(g, tf.TrainableVariables)
	}
	if bad := refused(g, e.name(), need{"Decay", e.Decay}); !bad.IsZero() {
		return bad.Operation()
	}
	if e.Decay > 1 {
		return tf.Failed(g, e.name(), tf.Errorf(tf.InvalidArgument, "an average needs Decay in (0, 1], got %v: it would move away from the variable", e.Decay))
	}
	for _, v := range vars {
		if v == nil {
			return tf.Failed(g, e.name(), tf.Errorf(tf.InvalidArgument, "an average must be one of a variable, got nil"))
		}
		if !v.DType().IsFloat() {
			return tf.Failed(g, e.name(), tf.Errorf(tf.InvalidArgument, "The variables must be half, float, or double: %s is %v", v.Name(), v.DType()))
		}
		e.make(g, v)
	}
	var updates []*tf.Operation
	whole := e.name()
	g.Scope(e.name(), func() {
		if scope := g.CurrentScope(); scope != "" {
			whole = scope
		}
		decay := e.decay(g)
		for _, v := range vars {
			beside(v, func() { updates = append(updates, e.update(v, decay)) })
		}
	})
	return tf.Group(g, whole, updates...)
}

// madeAverages is the collection of what make has made.
const madeAverages = "__averages"

// A madeAverage is the name of an average of v.
type madeAverage struct {
	v    *tf.Variable
	name string
}

// make makes the average of v. If another ExponentialMovingAverage has one of the same
// name, this one's has a number behind it, as in TensorFlow.
func (e *ExponentialMovingAverage) make(g *tf.Graph, v *tf.Variable) {
	if e.averages[v] != nil {
		return
	}
	if e.averages == nil {
		e.averages = map[*tf.Variable]*tf.Variable{}
	}
	name := e.name()
	for i := 1; slices.Contains(g.Collection(madeAverages), any(madeAverage{v, name})); i++ {
		name = fmt.Sprintf("%s_%d", e.name(), i)
	}
	e.averages[v] = v.Slot(name, v.Initial)
	g.AddToCollection(madeAverages, madeAverage{v, name})
	g.AddToCollection(tf.MovingAverageVariables, v)
}

func (e *ExponentialMovingAverage) decay(g *tf.Graph) tf.Output {
	decay := ops.Scalar(g, float32(e.Decay))
	updates := e.NumUpdates
	if e.Step != nil {
		updates = e.Step.Read()
	}
	if updates.IsZero() {
		return decay
	}
	n := updates.Cast(tf.Float32)
	return decay.Minimum(f32(n, 1).Add(n).Div(f32(n, 10).Add(n)))
}

// update is average -= (1-decay)·(average-variable).
func (e *ExponentialMovingAverage) update(v *tf.Variable, decay tf.Output) *tf.Operation {
	a := e.averages[v]
	part := f32(decay, 1).Sub(decay).Cast(v.DType())
	return a.AssignSub(a.Read().Sub(v.Read()).Mul(part))
}

// Average returns the variable that holds the average of v, nil before Apply
// was called for v.
func (e *ExponentialMovingAverage) Average(v *tf.Variable) *tf.Variable { return e.averages[v] }

// AverageName returns the name of the average of v: what a checkpoint has it
// under.
func (e *ExponentialMovingAverage) AverageName(v *tf.Variable) string {
	if a := e.averages[v]; a != nil {
		return a.Name()
	}
	return v.Name() + "/" + e.name()
}
