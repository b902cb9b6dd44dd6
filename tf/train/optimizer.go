// Package train holds what trains a model: optimizers, and the loop around
// them.
//
//   - Optimizers: [Adam], [GradientDescent], [Momentum], [FTRL] and others are
//     structs with a method Minimize, which adds one operation that does a step of
//     training. [Minimize] does so with [Options]: a global step, clipping. In an eager
//     graph [TapeGradients] and ApplyGradients do a step. The field Rate takes
//     a learning rate that the graph computes, such as what a [Schedule] returns.
//   - Checkpoints: a [Saver] saves and restores variables, [LatestCheckpoint] finds
//     what to restore, [OpenCheckpoint] reads values without a graph.
//   - Loops: [MonitoredTrainingSession] initializes or restores a model, saves it,
//     writes summaries, calls hooks around each step, and goes on after a task of
//     the cluster was lost. Hooks are [StopAtStepHook], [LoggingTensorHook],
//     [NanTensorHook], [ProfilerHook] and a program's own.
//   - Clusters: [ReplicaDevices] places variables on parameter servers, and
//     [SyncReplicas] makes updates of the mean of several workers' gradients.
//   - Input by queues, as programs of TensorFlow 1.x have it: [Batch],
//     [StringInputProducer], [Coordinator], [StartQueueRunners]. Package data is the
//     newer way.
package train

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// An Optimizer turns gradients into updates of variables.
type Optimizer interface {
	// ApplyGradients adds an operation that updates each variable by its
	// gradient. In an eager graph the update happens at once.
	ApplyGradients(gvs []GradVar) (*tf.Operation, error)
}

// A GradVar is a variable and the gradient of what is to be minimized with
// respect to it.
type GradVar struct {
	Grad tf.Gradient
	Var  *tf.Variable
}

// ComputeGradients adds the gradients of loss with respect to vars, or to all
// trainable variables of the graph if there are none. Variables on which loss
// does not depend are left out. Gradients are gated as by [GateOp]; [Minimize]
// takes another [Gate].
func ComputeGradients(loss tf.Output, vars ...*tf.Variable) ([]GradVar, error) {
	opt := Options{Vars: vars}
	return opt.gradients(loss)
}

// TapeGradients is ComputeGradients for what an eager graph has recorded.
func TapeGradients(t *tf.Tape, loss tf.Output, vars ...*tf.Variable) ([]GradVar, error) {
	if err := loss.Err(); err != nil {
		return nil, err
	}
	if len(vars) == 0 {
		vars = tf.Variables(loss.Graph(), tf.TrainableVariables)
	}
	xs, err := handles(vars)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, author.Called(tf.Errorf(tf.InvalidArgument, "gradients need a tape, got nil"))
	}
	gs, err := t.Differentiate(tf.GradientOptions{Ys: []tf.Output{loss}, Xs: xs})
	if err != nil {
		return nil, err
	}
	return pair(gs, vars), nil
}

// handles returns what gradients are computed with respect to.
func handles(vars []*tf.Variable) ([]tf.Output, error) {
	out := make([]tf.Output, len(vars))
	for i, v := range vars {
		if v == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "gradients are computed with respect to variables, got nil as one of %d", len(vars))
		}
		if out[i] = v.Handle(); v.IsReference() {
			out[i] = v.Value() // all readers share it, the reference is beneath
		}
	}
	return out, nil
}

func pair(gs []tf.Gradient, vars []*tf.Variable) []GradVar {
	var out []GradVar
	for i, g := range gs {
		if !g.IsZero() {
			out = append(out, GradVar{g, vars[i]})
		}
	}
	return out
}

// withUpdates returns an operation that runs op and what has to run beside each
// step that computes loss: see vars.Updates.
func withUpdates(op *tf.Operation, loss tf.Output) *tf.Operation {
	missing := slices.DeleteFunc(vars.Updates(loss), func(u *tf.Operation) bool { return slices.Contains(op.ControlInputs(), u) })
	if len(missing) == 0 {
		return op
	}
	return tf.Group(loss.Graph(), "train_and_update", append(missing, op)...)
}

// minimize is what the Minimize methods of all optimizers do. An error is kept
// by the graph, as those of other functions that add operations, and by the
// operation.
func minimize(o Optimizer, loss tf.Output, vars []*tf.Variable) *tf.Operation {
	err := checkLoss(loss)
	var gvs []GradVar
	if err == nil {
		gvs, err = ComputeGradients(loss, vars...)
	}
	if err == nil {
		var op *tf.Operation
		if op, err = o.ApplyGradients(gvs); err == nil {
			return withUpdates(op, loss)
		}
	}
	return tf.Failed(loss.Graph(), "Minimize", err)
}

// checkLoss refuses what is no scalar, of which the gradient would be that of
// the sum.
func checkLoss(loss tf.Output) error {
	if err := loss.Err(); err != nil {
		return err
	}
	if s := loss.Shape(); len(s) > 0 {
		return tf.Errorf(tf.InvalidArgument, "a loss must be a scalar, got %v: take its Mean or its Sum", loss)
	}
	return nil
}

// noOptimizer is for what applies gradients by an optimizer that is missing.
func noOptimizer(who string) error {
	return author.Called(tf.Errorf(tf.InvalidArgument, "%s needs the optimizer that applies the gradients, got nil", who))
}

// checkGrads says what all optimizers ask for.
func checkGrads(gvs []GradVar) error {
	if len(gvs) == 0 {
		return author.Called(tf.Errorf(tf.InvalidArgument, "No gradients provided for any variable: the loss depends on no trainable variable"))
	}
	for _, gv := range gvs {
		if gv.Var == nil || gv.Grad.IsZero() {
			return author.Called(tf.Errorf(tf.InvalidArgument, "a gradient and its variable must both be given"))
		}
	}
	return nil
}

// update adds, under the optimizer's name scope, one operation per variable
// and what comes after all of them, and returns the operation that stands for
// the whole.
func update(name string, gvs []GradVar, one func(GradVar) *tf.Operation, finish func(updates []*tf.Operation) []*tf.Operation) *tf.Operation {
	g := gvs[0].Var.Graph()
	var all []*tf.Operation
	whole := name
	g.Scope(name, func() {
		if scope := g.CurrentScope(); scope != "" {
			whole = scope // exactly that name: it is taken by the scope itself
		}
		for _, gv := range gvs {
			g.Scope("update_"+gv.Var.Name(), func() { beside(gv.Var, func() { all = append(all, ofVariable(gv.Var, constrained(gv, one))) }) })
		}
		all = append(all, vars.Updates(gradientsOf(gvs)...)...)
		if finish != nil {
			beside(gvs[0].Var, func() { all = append(all, finish(all)...) })
		}
	})
	return tf.Group(g, whole, all...)
}

// ofVariable says which variable an update is of that has failed in an eager graph, where the names
// of operations do not.
func ofVariable(v *tf.Variable, op *tf.Operation) *tf.Operation {
	if op.Err() == nil || !v.Graph().IsEager() {
		return op
	}
	e := *tf.AsError(op.Err())
	e.Msg = "the update of variable " + v.Name() + " has failed: " + e.Message()
	return tf.Failed(v.Graph(), op.Name, &e)
}

// constrained adds one's update of a variable and after it the projection of the
// variable onto the values that it may have.
func constrained(gv GradVar, one func(GradVar) *tf.Operation) *tf.Operation {
	project := gv.Var.Constraint()
	if project == nil {
		return one(gv)
	}
	if _, sparse := gv.Grad.IndexedSlices(); sparse {
		return tf.Failed(gv.Var.Graph(), "constraint", tf.Errorf(tf.InvalidArgument, "Cannot use a constraint function on a sparse variable: %s has one", gv.Var.Name()))
	}
	updated := one(gv)
	var op *tf.Operation
	gv.Var.Graph().ControlDependencies([]*tf.Operation{updated}, func() { op = gv.Var.Assign(project(gv.Var.Read())) })
	return op
}

// gradientsOf returns what the updates of variables are computed from.
func gradientsOf(gvs []GradVar) (out []tf.Output) {
	for _, gv := range gvs {
		if s, ok := gv.Grad.IndexedSlices(); ok {
			out = append(out, s.Values)
		} else {
			out = append(out, gv.Grad.Output())
		}
	}
	return out
}

// beside calls f; what f adds goes to the device that v asks for, whatever
// device scopes are in force.
func beside(v *tf.Variable, f func()) {
	g := v.Graph()
	g.Device("", func() { g.Device(v.Handle().Operation().Device, f) })
}

// constLike returns a scalar in the type of v.
func constLike(v *tf.Variable, x float64) tf.Output {
	t, err := core.ScalarOf(v.DType(), x)
	if err != nil {
		return tf.Failed(v.Graph(), "Const", err).Output(0)
	}
	return tf.Apply(v.Graph(), "Const", nil, tf.Attr("value", t), tf.Attr("dtype", t.DType())).Output(0)
}

// zerosLike returns the initial value of a slot of v.
func zerosLike(v *tf.Variable) tf.Output { return fillLike(v, 0) }

// fillLike returns a tensor of v's shape with all elements x.
func fillLike(v *tf.Variable, x float64) tf.Output {
	g := v.Graph()
	if err := core.CheckSize(v.DType(), v.Shape()); err != nil {
		return ops.Fill(ops.Shape(v.Initial()), constLike(v, x))
	}
	dims := make([]int32, len(v.Shape()))
	for i, d := range v.Shape() {
		dims[i] = int32(d)
	}
	return ops.Fill(ops.Const(g, dims, len(dims)), constLike(v, x))
}
