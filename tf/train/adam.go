package train

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Adam is the optimizer of Kingma and Ba (ICLR 2015, arXiv:1412.6980), in
// TensorFlow's form: the step size is corrected for the bias of both moments
// and epsilon is added to the uncorrected root. Fields left 0 have
// TensorFlow's defaults; see [Zero].
//
// For a sparse gradient the moments of all rows decay, as in TensorFlow.
type Adam struct {
	LearningRate float64   // 0.001
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Beta1, Beta2 float64   // 0.9, 0.999
	Epsilon      float64   // 1e-8
	AMSGrad      bool      // divide by the largest second moment so far (Reddi et al., ICLR 2018)
	Name         string    // of the scope and the slots: "Adam"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o Adam) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates, the slots v/Adam and v/Adam_1 (and v/Adam_2
// for AMSGrad), and the variables beta1_power and beta2_power.
func (o Adam) ApplyGradients(gvs []GradVar) (*tf.Operation, error) { return o.rule().apply(gvs) }

func (o Adam) rule() *rule {
	name := cmp.Or(o.Name, "Adam")
	p := powers{{"beta1_power", name, or(o.Beta1, 0.9), nil}, {"beta2_power", name, or(o.Beta2, 0.999), nil}}
	r := &rule{
		name: name, op: "Adam",
		slots: []slot{{"m", zerosLike}, {"v", zerosLike}},
		args: map[string]arg{
			"lr": rate(o.Rate, or(o.LearningRate, 0.001)), "epsilon": finite("epsilon", or(o.Epsilon, 1e-8)),
			"beta1": beta("beta1", p[0].beta), "beta2": beta("beta2", p[1].beta), "beta1_power": p[0].value, "beta2_power": p[1].value,
		},
		before: p.make, after: p.decay, sparse: sparseAdam,
	}
	if o.AMSGrad {
		r.op, r.slots, r.sparse = "AdamWithAmsgrad", append(r.slots, slot{"vhat", zerosLike}), noSparse
	}
	return r
}

// powers are the running powers of decay rates; they live with the first
// variable. They are float32 whatever the type of the variables is, as in TensorFlow's
// checkpoints: in bfloat16 0.999 is 1, and its powers would never change.
type powers []power

type power struct {
	name string
	of   string // the name of the optimizer
	beta float64
	v    *tf.Variable
}

func (p powers) make(first *tf.Variable) {
	for i := range p {
		p[i].v = p[i].variable(first)
	}
}

// madePowers is the collection of the variables of powers.
const madePowers = "__powers"

// A madePower says whose a variable is.
type madePower struct {
	first    *tf.Variable
	of, name string
	v        *tf.Variable
}

// variable returns the variable of a power. Optimizers of different names have one each,
// as they have slots: TensorFlow calls the second one beta1_power_1.
func (q *power) variable(first *tf.Variable) (v *tf.Variable) {
	g := first.Graph()
	for _, x := range g.Collection(madePowers) {
		if m := x.(madePower); m.first == first && m.of == q.of && m.name == q.name {
			return m.v
		}
	}
	o := tf.VariableOptions{Name: g.CurrentScope() + q.name, NotTrainable: true, ColocateWith: first, Reference: first.IsReference()}
	g.InitScope(func() { // a step in a branch or a loop updates what is outside
		g.Scope("", func() { v = tf.NewVariable(ops.Scalar(g, float32(q.beta)), o) })
	})
	g.AddToCollection(madePowers, madePower{first, q.of, q.name, v})
	return v
}

func (q *power) value(v *tf.Variable) tf.Output { return castLike(v, q.v.Value()) }

// decay multiplies the powers by their rates once all updates have used them.
func (p powers) decay(_ *tf.Variable, after []*tf.Operation) (all []*tf.Operation) {
	for i := range p {
		q := &p[i]
		next := tf.Apply(nil, "Mul", []tf.Output{q.v.Value(), constLike(q.v, q.beta)}).Output(0)
		all = append(all, q.v.Assign(next, tf.After(after...), tf.Name("Assign")))
	}
	return all
}

// sparseAdam is Adam's update made of single operations: TensorFlow has no op
// for it.
func sparseAdam(r *rule, v *tf.Variable, s tf.IndexedSlices) *tf.Operation {
	one := constLike(v, 1)
	in := func(name string) tf.Output { return r.args[name](v) }
	root := ops.Sqrt(one.Sub(in("beta2_power")))
	step := in("lr").Mul(root).Div(one.Sub(in("beta1_power")))
	m := decayAndAdd(r.slot(v, 0), in("beta1"), s.Indices, s.Values.Mul(one.Sub(in("beta1"))))
	u := decayAndAdd(r.slot(v, 1), in("beta2"), s.Indices, s.Values.Mul(s.Values).Mul(one.Sub(in("beta2"))))
	return v.AssignSub(step.Mul(m).Div(ops.Sqrt(u).Add(in("epsilon"))))
}

// decayAndAdd multiplies a slot by beta, adds rows to it and returns its value
// after that.
func decayAndAdd(slot *tf.Variable, beta, indices, values tf.Output) tf.Output {
	decayed := slot.Assign(slot.Read().Mul(beta))
	added := scatterAdd(slot, indices, values, tf.After(decayed))
	return slot.Read(tf.After(added))
}

// AdamW is Adam with weight decay that the moments do not see (Loshchilov and
// Hutter, ICLR 2019, arXiv:1711.05101): before its update a variable loses
// WeightDecay times itself.
type AdamW struct {
	Adam
	WeightDecay float64
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o AdamW) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates and what [Adam.ApplyGradients] adds.
func (o AdamW) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	o.Name = cmp.Or(o.Name, "AdamW")
	r := o.rule()
	r.decay = o.WeightDecay
	return r.apply(gvs)
}

// AdaMax is Adam with the infinity norm (Kingma and Ba, section 7.1). Fields
// left 0 have TensorFlow's defaults; see [Zero].
type AdaMax struct {
	LearningRate float64   // 0.001
	Rate         tf.Output // computed by the graph, instead of LearningRate
	Beta1, Beta2 float64   // 0.9, 0.999
	Epsilon      float64   // 1e-8
	Name         string    // of the scope and the slots: "AdaMax"
}

// Minimize adds an operation that moves vars (all trainable variables if there
// are none) to make loss smaller.
func (o AdaMax) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the updates, the slots v/AdaMax and v/AdaMax_1, and the
// variable beta1_power.
func (o AdaMax) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	name := cmp.Or(o.Name, "AdaMax")
	p := powers{{"beta1_power", name, or(o.Beta1, 0.9), nil}}
	r := &rule{
		name: name, op: "AdaMax",
		slots: []slot{{"m", zerosLike}, {"v", zerosLike}},
		args: map[string]arg{
			"lr": rate(o.Rate, or(o.LearningRate, 0.001)), "epsilon": finite("epsilon", or(o.Epsilon, 1e-8)),
			"beta1": beta("beta1", p[0].beta), "beta2": beta("beta2", or(o.Beta2, 0.999)), "beta1_power": p[0].value,
		},
		before: p.make, after: p.decay, sparse: noSparse,
	}
	return r.apply(gvs)
}
