package vars

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Initialize adds an operation that runs the initializers of variables. It
// waits for no order among them: where one initial value depends on another
// variable, see [InitializedValue].
func Initialize(g *tf.Graph, name string, vs ...*tf.Variable) *tf.Operation {
	if err := checkNil(vs); err != nil {
		return tf.Failed(g, name, err)
	}
	var all []*tf.Operation
	for _, v := range vs {
		if init := v.Initializer(); init != nil {
			all = append(all, init)
		}
	}
	return tf.Group(g, name, all...)
}

// checkNil refuses variables that are missing.
func checkNil(vs []*tf.Variable) error {
	if i := slices.Index(vs, nil); i >= 0 {
		return tf.Errorf(tf.InvalidArgument, "variables must not be nil, number %d of %d is", i, len(vs))
	}
	return nil
}

// InitializedValue returns a variable's value once it is initialized: for the
// initial values of others.
func InitializedValue(v *tf.Variable) tf.Output {
	if v == nil {
		return tf.Failed(nil, "initialized_value", checkNil([]*tf.Variable{v})).Output(0)
	}
	if v.Initializer() == nil {
		return v.Read()
	}
	return v.Read(tf.After(v.Initializer()))
}

// ReportUninitialized returns the names of those variables, of all global and
// local ones if none are given, that have no value yet: a string vector.
func ReportUninitialized(g *tf.Graph, vs ...*tf.Variable) (names tf.Output) {
	if err := checkNil(vs); err != nil {
		return tf.Failed(g, "report_uninitialized_variables", err).Output(0)
	}
	if g == nil {
		return tf.Failed(nil, "report_uninitialized_variables", errNoGraph).Output(0)
	}
	if len(vs) == 0 {
		vs = append(tf.Variables(g, tf.GlobalVariables), tf.Variables(g, tf.LocalVariables)...)
	}
	g.Scope("report_uninitialized_variables", func() {
		if len(vs) == 0 {
			names = ops.Const(g, []string{})
			return
		}
		var have []tf.Output
		var all []string
		for _, v := range vs {
			have, all = append(have, v.IsInitialized()), append(all, v.Name())
		}
		missing := ops.Where(ops.Pack(have).Not()).Reshape(-1)
		names = ops.GatherV2(ops.Const(g, all), missing, ops.Scalar(g, int32(0)))
	})
	return names
}
