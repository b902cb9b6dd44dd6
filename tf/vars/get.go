package vars

import (
	"math"

	"strconv"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func itoa(n int) string { return strconv.Itoa(n) }

// get is Get without the getters of scopes, which may have left out what a variable needs.
func (s *store) get(g *tf.Graph, name string, shape tf.Shape, o Options) *tf.Variable {
	full := s.scope.complete(o)
	o.DType, o.Initializer = full.DType, full.Initializer
	v := s.vars[name]
	var err error
	switch reuse := s.scope.o.Reuse; {
	case v == nil && reuse == Always:
		err = tf.Errorf(tf.InvalidArgument, "Variable %s does not exist, or was not created with tf.get_variable(). "+
			"Did you mean to set Reuse to vars.Auto in the scope?", name)
	case v == nil:
		return s.make(g, name, shape, o)
	case reuse == Inherit:
		err = tf.Errorf(tf.InvalidArgument, "Variable %s already exists, disallowed. "+
			"Did you mean to set Reuse to vars.Always or vars.Auto in the scope?", name)
	case !shape.Compatible(v.Shape()):
		err = tf.Errorf(tf.InvalidArgument, "Trying to share variable %s, but specified shape %s and found shape %s.", name, shape.String(), v.Shape().String())
	case o.DType != v.DType():
		err = tf.Errorf(tf.InvalidArgument, "Trying to share variable %s, but specified dtype %v and found dtype %v.", name, o.DType, v.DType())
	default:
		return v
	}
	return failed(g, name, err)
}

// failed returns a variable that carries a mistake.
func failed(g *tf.Graph, name string, err error) *tf.Variable {
	return tf.NewVariable(tf.Failed(g, "get_variable", err).Output(0), tf.VariableOptions{Name: name})
}

// make makes a variable. Whatever the name scope is, names are as TensorFlow
// gives them: v, v/Initializer/…, v/Regularizer/….
func (s *store) make(g *tf.Graph, name string, shape tf.Shape, o Options) *tf.Variable {
	if !shape.Known() {
		return failed(g, name, tf.Errorf(tf.InvalidArgument, "Shape of a new variable (%s) must be fully defined, but instead was %s.", name, shape.String()))
	}
	var v *tf.Variable
	g = author.Home(g)
	g.InitScope(func() { v = s.build(g, name, shape, o) })
	for _, c := range o.Collections {
		g.AddToCollection(c, v)
	}
	s.vars[name] = v
	return v
}

// build adds a variable outside of loops and branches, so that what it begins
// with and its regularizer can be had from everywhere.
func (s *store) build(g *tf.Graph, name string, shape tf.Shape, o Options) (v *tf.Variable) {
	g.Scope("", func() { // names are whole already
		var initial tf.Output
		g.Scope(name+"/Initializer", func() { initial = s.initializer(o, shape)(g, o.DType, shape) })
		v = tf.NewVariable(initial, tf.VariableOptions{Name: name, NotTrainable: o.NotTrainable, Local: o.Local, Device: o.Device, Constraint: o.Constraint})
		if o.Regularizer != nil {
			g.Scope(name+"/Regularizer", func() { collectLoss(g, o.Regularizer(v.Value())) })
		}
	})
	return v
}

// collectLoss adds what a regularizer gives to the losses of its kind.
func collectLoss(g *tf.Graph, loss tf.Output) {
	if !loss.IsZero() && loss.Err() == nil && !g.IsEager() {
		g.AddToCollection("regularization_losses", loss)
	}
}

// L2 returns the regularizer scale · sum(v²)/2. A scale that is negative or not finite is
// refused with INVALID_ARGUMENT.
func L2(scale float64) Regularizer {
	return func(v tf.Output) tf.Output { return scaled(tf.Apply(nil, "L2Loss", []tf.Output{v}).Output(0), scale) }
}

// L1 returns the regularizer scale · sum(|v|). Scales are those of L2.
func L1(scale float64) Regularizer {
	return func(v tf.Output) tf.Output { return scaled(v.Abs().Sum(), scale) }
}

func scaled(x tf.Output, by float64) tf.Output {
	if !(by >= 0) || math.IsInf(by, 1) {
		return tf.Failed(x.Graph(), "Const", tf.Errorf(tf.InvalidArgument, "the scale of a regularizer must be a non-negative number, got %v", by)).Output(0)
	}
	t, err := core.ScalarOf(x.DType(), by)
	if err != nil {
		return tf.Failed(x.Graph(), "Const", err).Output(0)
	}
	return x.Mul(tf.Apply(x.Graph(), "Const", nil, tf.Attr("value", t), tf.Attr("dtype", t.DType())).Output(0))
}

// Sum returns a regularizer that adds up others. Those that are nil, or return the zero
// Output, add nothing.
func Sum(rs ...Regularizer) Regularizer {
	return func(v tf.Output) (total tf.Output) {
		for _, r := range rs {
			if r == nil {
				continue
			}
			switch y := r(v); {
			case y.IsZero():
			case total.IsZero():
				total = y
			default:
				total = total.Add(y)
			}
		}
		return total
	}
}
