package train

import (
	"fmt"
	"math"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/training" // the updates of rules
	"github.com/gorge-tf/gorge/tf/vars"
)

// A rule is an optimizer as this package works with it: which training op
// updates a variable, with which slots and numbers.
type rule struct {
	name  string // the scope's, and the slots': v/name, v/name_1, …
	op    string // of [Resource]Apply<op> and [Resource]SparseApply<op>
	attrs []tf.Option
	slots []slot         // in the order in which TensorFlow makes them
	args  map[string]arg // the op's other inputs, by the names in its signature

	// sparse updates some rows of a variable where there is no op for it.
	// No row comes twice, unless the update is linear.
	sparse func(r *rule, v *tf.Variable, s tf.IndexedSlices) *tf.Operation
	// linear updates of one row may follow one another: their sum is the same.
	linear bool
	// decay is what a variable loses of itself before its update.
	decay float64
	// before adds what the updates share, before there are slots.
	before func(first *tf.Variable)
	// after adds what comes after all updates.
	after func(first *tf.Variable, updates []*tf.Operation) []*tf.Operation
}

// A slot is a variable that an optimizer keeps for each variable it updates.
type slot struct {
	input   string // its name in the op's signature
	initial func(v *tf.Variable) tf.Output
}

// An arg gives an input of a training op in the type of the variable.
type arg func(v *tf.Variable) tf.Output

// number is a constant. It is rounded to float32 first: TensorFlow makes float32 tensors
// of an optimizer's numbers and casts those, so that variables of float64 go the same way.
func number(x float64) arg {
	return func(v *tf.Variable) tf.Output { return constLike(v, float64(float32(x))) }
}

// rate is the learning rate: what the graph computes, if there is that. A rate
// of zero trains nothing: it was forgotten.
func rate(computed tf.Output, x float64) arg {
	switch {
	case computed.IsZero() && x == 0:
		return func(v *tf.Variable) tf.Output {
			return tf.Failed(v.Graph(), "learning_rate", tf.Errorf(tf.InvalidArgument, "an optimizer needs a learning rate: set LearningRate or Rate, got 0")).Output(0)
		}
	case computed.IsZero():
		return finite("learning rate", x)
	}
	return func(v *tf.Variable) tf.Output { return castLike(v, computed) }
}

// finite is a constant that would make variables infinite, or no numbers, at the first
// update if it were so itself.
func finite(what string, x float64) arg {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		return number(x)
	}
	return func(v *tf.Variable) tf.Output {
		return tf.Failed(v.Graph(), strings.ReplaceAll(what, " ", "_"), tf.Errorf(tf.InvalidArgument, "the %s must be finite, got %v", what, x)).Output(0)
	}
}

// beta is the constant by which a moment decays.
func beta(what string, x float64) arg {
	if x >= 0 && x < 1 {
		return number(x)
	}
	return func(v *tf.Variable) tf.Output {
		return tf.Failed(v.Graph(), what, tf.Errorf(tf.InvalidArgument, "%s must be in [0, 1), got %v", what, x)).Output(0)
	}
}

// castLike returns x in the type of v.
func castLike(v *tf.Variable, x tf.Output) tf.Output {
	if x.DType() == v.DType() {
		return x
	}
	return tf.Apply(nil, "Cast", []tf.Output{x}, tf.Attr("DstT", v.DType())).Output(0)
}

// filled is the initial value of slots that do not begin with zeros.
func filled(x float64) func(v *tf.Variable) tf.Output {
	return func(v *tf.Variable) tf.Output { return fillLike(v, x) }
}

// summed is filled for sums of squares. Rates are divided by their roots, so they must not
// begin with 0.
func summed(x float64) func(v *tf.Variable) tf.Output {
	if x > 0 {
		return filled(x)
	}
	return func(v *tf.Variable) tf.Output {
		return tf.Failed(v.Graph(), "initial_accumulator_value", tf.Errorf(tf.InvalidArgument, "initial_accumulator_value must be positive: %v", x)).Output(0)
	}
}

// apply adds the updates of all variables.
func (r *rule) apply(gvs []GradVar) (*tf.Operation, error) {
	if err := checkGrads(gvs); err != nil {
		return nil, err
	}
	first := gvs[0].Var
	if r.before != nil {
		r.before(first)
	}
	var finish func([]*tf.Operation) []*tf.Operation
	if r.after != nil {
		finish = func(updates []*tf.Operation) []*tf.Operation { return r.after(first, updates) }
	}
	op := update(r.name, gvs, r.one, finish)
	return op, op.Err()
}

// one adds the update of one variable.
func (r *rule) one(gv GradVar) *tf.Operation {
	r.makeSlots(gv.Var)
	if r.decay == 0 {
		return r.update(gv)
	}
	gradient := gradientsOf([]GradVar{gv})[0].Operation() // of the variable as it was
	shrunk := gv.Var.AssignSub(number(r.decay)(gv.Var).Mul(gv.Var.Read()), tf.After(gradient))
	var op *tf.Operation
	gv.Var.Graph().ControlDependencies([]*tf.Operation{shrunk}, func() { op = r.update(gv) })
	return op
}

func (r *rule) update(gv GradVar) *tf.Operation {
	s, ok := gv.Grad.IndexedSlices()
	if !ok {
		return r.train(gv.Var, kind(gv.Var)+"Apply"+r.op, gv.Grad.Output(), tf.Output{})
	}
	if !r.linear {
		s = unrepeated(s)
	}
	if r.sparse != nil {
		return r.sparse(r, gv.Var, s)
	}
	return r.train(gv.Var, kind(gv.Var)+"SparseApply"+r.op, s.Values, s.Indices)
}

// kind begins the names of the ops that update variables of v's kind.
func kind(v *tf.Variable) string {
	if v.IsReference() {
		return ""
	}
	return "Resource"
}

// makeSlots makes the slots in their own order, which numbers their names.
func (r *rule) makeSlots(v *tf.Variable) {
	for i := range r.slots {
		r.slot(v, i)
	}
}

func (r *rule) slot(v *tf.Variable, i int) *tf.Variable {
	name := r.name
	if i > 0 {
		name = fmt.Sprintf("%s_%d", name, i)
	}
	return v.SlotIn(vars.Name(v.Graph()), name, func() tf.Output { return r.slots[i].initial(v) })
}

// train adds a training op with the inputs that its signature asks for.
func (r *rule) train(v *tf.Variable, op string, grad, indices tf.Output) *tf.Operation {
	def, err := core.LookupOp(op)
	if err != nil {
		return tf.Failed(v.Graph(), op, err)
	}
	var in []tf.Output
	for _, a := range def.Inputs {
		switch a.Name {
		case "var":
			in = append(in, v.Handle())
		case "grad", "delta":
			in = append(in, grad)
		case "indices":
			in = append(in, indices)
		default:
			in = append(in, r.input(v, a.Name))
		}
	}
	return tf.Apply(nil, op, in, tf.Join(r.attrs, tf.Name(op))...)
}

// input returns a slot or a number by its name in the op's signature.
func (r *rule) input(v *tf.Variable, name string) tf.Output {
	for i := range r.slots {
		if r.slots[i].input == name {
			return r.slot(v, i).Handle()
		}
	}
	return r.args[name](v)
}

// unrepeated adds up slices of the same index, for updates that are not linear
// in the gradient.
func unrepeated(s tf.IndexedSlices) tf.IndexedSlices {
	u := tf.Apply(nil, "Unique", []tf.Output{s.Indices}, tf.Attr("out_idx", tf.Int32))
	n := tf.Apply(nil, "Size", []tf.Output{u.Output(0)}, tf.Attr("out_type", tf.Int32)).Output(0)
	sums := tf.Apply(nil, "UnsortedSegmentSum", []tf.Output{s.Values, u.Output(1), n}).Output(0)
	return tf.IndexedSlices{Values: sums, Indices: u.Output(0), DenseShape: s.DenseShape}
}

// scatterAdd adds rows to a variable.
func scatterAdd(v *tf.Variable, indices, values tf.Output, opts ...tf.Option) *tf.Operation {
	if v.IsReference() {
		return tf.Apply(nil, "ScatterAdd", []tf.Output{v.Handle(), indices, values}, opts...)
	}
	return tf.Apply(nil, "ResourceScatterAdd", []tf.Output{v.Handle(), indices, values}, tf.Join(opts, tf.Attr("dtype", v.DType()))...)
}

// noSparse is for optimizers that TensorFlow has no sparse form of.
func noSparse(r *rule, v *tf.Variable, _ tf.IndexedSlices) *tf.Operation {
	return tf.Failed(v.Graph(), r.op, tf.Errorf(tf.Unimplemented,
		"a sparse gradient needs an optimizer with sparse updates, %s has none: variable %s", r.name, v.Name()))
}
