package train

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
)

// GlobalStep returns the graph's variable global_step, an int64 scalar that
// counts the updates of a model, and makes it if there is none.
func GlobalStep(g *tf.Graph) *tf.Variable {
	if vs := tf.Variables(g, tf.GlobalStep); len(vs) > 0 {
		return vs[0]
	}
	if g == nil {
		return tf.NewVariable(tf.Failed(nil, "global_step", noGraph("a global step")).Output(0), tf.VariableOptions{Name: "global_step"})
	}
	var v *tf.Variable
	g = author.Home(g)
	g.InitScope(func() {
		g.Scope("", func() {
			v = tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "global_step", NotTrainable: true})
		})
	})
	g.AddToCollection(tf.GlobalStep, v)
	return v
}

// GetGlobalStep returns the variable that counts the updates of a model: that of
// the collection global_step, else the variable of that name; nil if there is
// none.
func GetGlobalStep(g *tf.Graph) *tf.Variable {
	if vs := tf.Variables(g, tf.GlobalStep); len(vs) > 0 {
		return vs[0]
	}
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		if v.Name() == "global_step" {
			return v
		}
	}
	return nil
}

// GetOrCreateGlobalStep returns the variable that counts the updates of a model,
// and makes it if there is none: GlobalStep under the name that TensorFlow has for
// it.
func GetOrCreateGlobalStep(g *tf.Graph) *tf.Variable {
	if v := GetGlobalStep(g); v != nil {
		return v
	}
	return GlobalStep(g)
}

// CreateGlobalStep makes the variable global_step. It is an error if there is one.
func CreateGlobalStep(g *tf.Graph) (*tf.Variable, error) {
	if g == nil {
		return nil, noGraph("a global step")
	}
	if GetGlobalStep(g) != nil {
		return nil, tf.Errorf(tf.AlreadyExists, "\"global_step\" already exists.")
	}
	return GlobalStep(g), nil
}

// checkGlobalStep refuses what cannot count: v must be one integer.
func checkGlobalStep(v *tf.Variable) error {
	if v.DType() != tf.Int64 && v.DType() != tf.Int32 {
		return tf.Errorf(tf.InvalidArgument, "Existing \"global_step\" does not have integer type: %v", v.DType())
	}
	if s := v.Shape(); len(s) != 0 {
		return tf.Errorf(tf.InvalidArgument, "Existing \"global_step\" is not scalar: %v", s)
	}
	return nil
}

// StepOf returns the value of a variable that counts steps.
func StepOf(ctx context.Context, r tf.StepRunner, v *tf.Variable) (int64, error) {
	switch {
	case v == nil:
		return 0, tf.Errorf(tf.InvalidArgument, "a step must be the value of a variable, got nil")
	case r == nil:
		return 0, tf.Errorf(tf.InvalidArgument, "a step is read in a session, got nil")
	}
	out, err := r.RunStep(ctx, nil, v.Value())
	if err != nil {
		return 0, err
	}
	return stepIn(out[0])
}

// stepIn returns the step that a fetched tensor has.
func stepIn(t *tf.Tensor) (int64, error) {
	n, err := t.Ints()
	if err != nil || len(n) != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "a step must be one integer, got a %v of shape %v", t.DType(), t.Shape())
	}
	return int64(n[0]), nil
}

// Gate says how far gradients wait for one another, as gate_gradients does in
// TensorFlow. It matters for variables that are references: their updates change
// memory that gradients which are still to be computed may read.
type Gate uint8

const (
	// GateOp: all gradients of one operation are computed before one is used.
	GateOp Gate = iota
	// GateNone: a gradient is used as soon as it is there.
	GateNone
	// GateGraph: all gradients are computed before any is used.
	GateGraph
)

// Options adjust [Minimize].
type Options struct {
	Vars       []*tf.Variable // all trainable variables if there are none
	GlobalStep *tf.Variable   // grows by 1 after the updates
	Gate       Gate
	GradLoss   tf.Output // the gradient with respect to the loss; not given: ones
	// Clip changes the gradients before they are applied.
	Clip func(gs []tf.Gradient) []tf.Gradient
}

// Minimize adds an operation that makes loss smaller with an optimizer: what
// the Minimize methods do, with options.
func Minimize(o Optimizer, loss tf.Output, opt Options) *tf.Operation {
	gvs, err := opt.gradients(loss)
	if err == nil && o == nil {
		err = noOptimizer("Minimize")
	}
	if err != nil {
		return tf.Failed(loss.Graph(), "Minimize", err)
	}
	counts := false // the optimizer counts the updates itself
	if o, ok := o.(*SyncReplicas); ok && opt.GlobalStep != nil {
		o.withStep(opt.GlobalStep)
		counts = true
	}
	op, err := o.ApplyGradients(gvs)
	if err != nil {
		return tf.Failed(loss.Graph(), "Minimize", err)
	}
	op = withUpdates(op, loss)
	if opt.GlobalStep == nil || counts {
		return op
	}
	return opt.GlobalStep.AssignAdd(oneLike(opt.GlobalStep), tf.After(op))
}

func oneLike(v *tf.Variable) tf.Output { return constLike(v, 1) }

// gradients adds the gradients of loss as the options ask for.
func (opt *Options) gradients(loss tf.Output) ([]GradVar, error) {
	if err := loss.Err(); err != nil {
		return nil, err
	}
	vars := opt.Vars
	if len(vars) == 0 {
		vars = tf.Variables(loss.Graph(), tf.TrainableVariables)
	}
	if opt.Gate > GateGraph {
		return nil, tf.Errorf(tf.InvalidArgument, "a gate must be one of GateOp, GateNone, GateGraph, got %d", opt.Gate)
	}
	xs, err := handles(vars)
	if err != nil {
		return nil, err
	}
	o := tf.GradientOptions{Ys: []tf.Output{loss}, Xs: xs, Gate: opt.Gate == GateOp}
	if !opt.GradLoss.IsZero() {
		o.GradYs = []tf.Output{opt.GradLoss}
	}
	gs, err := tf.Differentiate(o)
	if err != nil {
		return nil, err
	}
	gvs := pair(gs, vars)
	if opt.Gate == GateGraph {
		wait(gvs)
	}
	if opt.Clip != nil {
		err = clip(gvs, opt.Clip)
	}
	return gvs, err
}

// wait makes every gradient wait for all of them.
func wait(gvs []GradVar) {
	xs := make([]tf.Output, len(gvs))
	for i, gv := range gvs {
		xs[i] = valuesOf(gv.Grad)
	}
	for i, x := range ops.Tuple(xs) {
		if s, ok := gvs[i].Grad.IndexedSlices(); ok {
			s.Values = x
			gvs[i].Grad = tf.Sparse(s)
		} else {
			gvs[i].Grad = tf.Dense(x)
		}
	}
}

func clip(gvs []GradVar, f func([]tf.Gradient) []tf.Gradient) error {
	gs := make([]tf.Gradient, len(gvs))
	for i, gv := range gvs {
		gs[i] = gv.Grad
	}
	out := f(gs)
	if len(out) != len(gs) {
		return tf.Errorf(tf.InvalidArgument, "Clip must return a gradient for each that it is given: %d of %d", len(out), len(gs))
	}
	for i := range gvs {
		gvs[i].Grad = out[i]
	}
	return nil
}
