// Package layers holds the building blocks of models, in graphs and eagerly:
// TensorFlow's module tf.layers, and those layers of Keras that models of its
// time need.
//
// A function such as [Dense] adds a layer to a tensor at once. A value such as
// a [DenseLayer] is a layer that can be applied several times: it makes its
// variables when it is applied first and uses them again from then on, so that
// one object trains and predicts.
//
// Variables are named as TensorFlow names them, such as dense/kernel and
// dense_1/kernel, and are got by vars.Get: variable scopes share them and set
// their initializers, regularizers and partitioners. Losses of regularizers
// join the collection losses.RegularizationCollection, which losses.Total adds up.
package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// An Activation is what a layer applies to its result, element by element. It
// is an option of those layers that have one. Operations of one input, such as
// ops.LeakyRelu or ops.Selu, are activations, too.
type Activation func(x tf.Output, opts ...tf.Option) tf.Output

// The usual activations.
var (
	Relu     Activation = ops.Relu
	Relu6    Activation = ops.Relu6
	Elu      Activation = ops.Elu
	Selu     Activation = ops.Selu
	Tanh     Activation = ops.Tanh
	Sigmoid  Activation = ops.Sigmoid
	Softplus Activation = ops.Softplus
	Softmax  Activation = ops.Softmax
)

// of applies an activation; without one x stays as it is.
func (a Activation) of(x tf.Output) tf.Output {
	if a == nil {
		return x
	}
	return a(x)
}

// settings are what the options of all layers have in common.
type settings struct {
	kind     string // the name of a layer that has not been given one
	name     string
	reuse    vars.Reuse
	frozen   bool // no variable is trained
	activity vars.Regularizer
	// exact: the name is that of the variable scope, which may be shared with
	// other layers. Otherwise a suffix makes it unique.
	exact bool
}

// exactly is s for a layer that a function adds: its name, if given, is exact.
func (s settings) exactly() settings {
	s.exact = s.name != ""
	return s
}

// input is what a layer has to know of the tensor that it is applied to first.
type input struct {
	g     *tf.Graph
	dtype tf.DType
	shape tf.Shape
	x     tf.Output // the zero Output if there is none yet
}

// String describes the input in messages.
func (in input) String() string {
	if in.x.IsZero() {
		return in.dtype.String() + in.shape.String()
	}
	return in.x.String()
}

// size returns the size of a dimension counted from the end, -1 if not known.
func (in input) size(fromEnd int) int {
	if i := len(in.shape) - fromEnd; i >= 0 && i < len(in.shape) {
		return in.shape[i]
	}
	return -1
}

// A body is what tells one kind of layer from another.
type body interface {
	// accept says why the layer cannot be applied to such an input.
	accept(in input) error
	// build makes the variables for such an input.
	build(in input)
	// call adds what computes the layer.
	call(x tf.Output) tf.Output
}

// layer is what all layers with variables have in common: where the variables
// are. It is in one of two states: new, and built, in which scope is set.
type layer struct {
	settings
	self  body
	scope *vars.Captured
	built bool
	all   []*tf.Variable
	bad   tf.Output // a variable that could not be made
}

// Apply adds what computes the layer on x. The first time it makes the layer's
// variables, in the variable scope that is open. A mistake is kept by the graph
// and by what Apply returns.
func (l *layer) Apply(x tf.Output) (y tf.Output) {
	return l.run(x, func() tf.Output { return l.self.call(x) })
}

// Build makes the variables for inputs of the given type and shape, of which
// the sizes that the variables depend on must be known. Apply does so itself.
func (l *layer) Build(g *tf.Graph, d tf.DType, s tf.Shape) error {
	if g == nil {
		return tf.Errorf(tf.InvalidArgument, "a layer makes its variables in a graph, got nil: make one by tf.NewGraph")
	}
	in := input{g: g, dtype: d, shape: s}
	if err := l.self.accept(in); err != nil || l.built {
		return err
	}
	var bad tf.Output
	l.within(g, func() { bad = l.make(in) })
	if !l.built {
		return bad.Err()
	}
	return nil
}

// Variables returns the layer's variables: those that are trained first, each
// kind in the order in which TensorFlow makes them. Before the layer is built
// there are none.
func (l *layer) Variables() []*tf.Variable { return l.all }

// Name returns the name of the layer's variable scope, "" before it is built.
func (l *layer) Name() string {
	if l.scope == nil {
		return ""
	}
	return l.scope.Name()
}

// poisoned is x, which cannot be used. The zero Output has no graph that could say why: in its
// place comes one that does.
func poisoned(x tf.Output, kind string) tf.Output {
	if x.IsZero() {
		return tf.Failed(nil, kind, tf.Errorf(tf.InvalidArgument, "the input of a layer must be a tensor, got the zero Output")).Output(0)
	}
	return x
}

// run is Apply with a computation of its own.
func (l *layer) run(x tf.Output, call func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return poisoned(x, l.kind)
	}
	in := input{x.Graph(), x.DType().Base(), x.Shape(), x}
	if err := l.self.accept(in); err != nil {
		return refuse(x, l.kind, err)
	}
	l.within(in.g, func() {
		if y = l.make(in); y.Err() != nil {
			return
		}
		y = call()
		l.regularize(y)
	})
	return y
}

// make makes the variables unless they are there. It returns one that could not
// be made, if any: then the layer stays as it is.
func (l *layer) make(in input) (bad tf.Output) {
	if l.built {
		return in.x
	}
	l.bad, l.all = tf.Output{}, nil
	if l.self.build(in); !l.bad.IsZero() {
		return l.bad
	}
	l.built = true
	return in.x
}

// within calls f in the layer's variable scope, which it opens the first time.
func (l *layer) within(g *tf.Graph, f func()) {
	if l.scope != nil {
		l.scope.Enter(vars.ScopeOptions{}, f)
		return
	}
	open, name := vars.Unique, l.kind
	if l.name != "" {
		name = l.name
	}
	if l.exact {
		open = vars.Scope
	}
	open(g, name, vars.ScopeOptions{Reuse: l.reuse}, func() {
		l.scope = vars.Capture(g)
		f()
	})
}

// regularize adds the loss of the layer's result, by example, to those of
// regularizers.
func (l *layer) regularize(y tf.Output) {
	g := y.Graph()
	if l.activity == nil || y.Err() != nil || g.IsEager() {
		return
	}
	g.Scope("ActivityRegularizer", func() {
		n := ops.Shape(y).At("0").Cast(y.DType())
		if loss := l.activity(y); !loss.IsZero() {
			g.AddToCollection("regularization_losses", loss.Div(n))
		}
	})
}

// weightOpts are what is asked for of one variable of a layer.
type weightOpts struct {
	init       initializers.Initializer
	reg        vars.Regularizer
	constraint vars.Constraint
	statistic  bool // never trained, never cut into parts
}

// A weight is a variable of a layer. A partitioner may have cut it.
type weight struct {
	variable *tf.Variable // nil if it is cut
	parts    *vars.Partitioned
}

// value returns the weight's value.
func (w weight) value() tf.Output {
	if w.parts != nil {
		return w.parts.Value()
	}
	return w.variable.Value()
}

// pieces returns the values of the parts.
func (w weight) pieces() (out []tf.Output) {
	if w.parts == nil {
		return []tf.Output{w.variable.Value()}
	}
	for _, v := range w.parts.Parts {
		out = append(out, v.Value())
	}
	return out
}

// weight gets a variable in the layer's scope.
func (l *layer) weight(in input, name string, s tf.Shape, o weightOpts) weight {
	opts := vars.Options{
		DType: in.dtype, Initializer: o.init, Regularizer: o.reg, Constraint: o.constraint, NotTrainable: o.statistic || l.frozen,
	}
	if vars.HasPartitioner(in.g) && !o.statistic {
		p := vars.GetPartitioned(in.g, name, s, opts)
		l.note(p.Value(), p.Parts...)
		return weight{parts: p}
	}
	v := vars.Get(in.g, name, s, opts)
	l.note(v.Value(), v)
	return weight{variable: v}
}

// note keeps the variables of a weight, and its value if that is a mistake.
func (l *layer) note(value tf.Output, vs ...*tf.Variable) {
	l.all = append(l.all, vs...)
	if value.Err() != nil && l.bad.IsZero() {
		l.bad = value
	}
}

// or returns the initializer that was chosen, or the layer's own.
func or(chosen, own initializers.Initializer) initializers.Initializer {
	if chosen == nil {
		return own
	}
	return chosen
}

// refuse returns an output that carries err.
func refuse(x tf.Output, kind string, err error) tf.Output {
	return tf.Failed(x.Graph(), kind, err).Output(0)
}
