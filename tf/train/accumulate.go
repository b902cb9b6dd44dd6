package train

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An Accumulate is an optimizer that applies the mean of the gradients of Steps
// steps: large batches in little memory. Between updates neither the variables nor
// the slots of Optimizer change.
//
// The global step that Minimize counts counts steps, not updates.
type Accumulate struct {
	Optimizer Optimizer
	Steps     int
}

// Minimize adds an operation that makes loss smaller every Steps steps.
func (o Accumulate) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// ApplyGradients adds the gradients to sums that have a slot each, named
// "accumulate", and in every Steps-th step the update by their mean. Sparse
// gradients become dense.
func (o Accumulate) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if err := checkGrads(gvs); err != nil {
		return nil, err
	}
	g := gvs[0].Var.Graph()
	switch {
	case o.Optimizer == nil:
		return nil, noOptimizer("an Accumulate")
	case o.Steps < 1:
		return nil, tf.Errorf(tf.InvalidArgument, "gradients are accumulated over one step at least, got %d", o.Steps)
	case g.IsEager():
		return nil, tf.Errorf(tf.Unimplemented, "gradients are accumulated in graphs; add them up in an eager program")
	case o.Steps == 1:
		return o.Optimizer.ApplyGradients(gvs)
	}
	count := gvs[0].Var.Shared("accumulate_steps", func() tf.Output { return ops.Scalar(g, int64(0)) })
	sums, added := o.sums(gvs)
	var counted *tf.Operation
	beside(count, func() { counted = count.AssignAdd(ops.Scalar(g, int64(1)), tf.After(added...)) })
	full := count.Read(tf.After(counted)).Mod(ops.Scalar(g, int64(o.Steps))).Equal(ops.Scalar(g, int64(0)))
	var err error
	scope := g.CurrentScope() // what Optimizer keeps is named as without accumulation
	done := tf.Cond(full,
		func() []tf.Output {
			var op *tf.Operation
			g.Scope(scope, func() { op, err = o.apply(gvs, sums) })
			if err != nil {
				return []tf.Output{tf.Failed(g, "Accumulate", err).Output(0)}
			}
			return []tf.Output{ops.Identity(ops.Scalar(g, true), tf.After(op))}
		},
		func() []tf.Output { return []tf.Output{ops.Scalar(g, false)} })
	if err != nil {
		return nil, err
	}
	op := tf.Group(g, "accumulate", done[0].Operation())
	return op, op.Err()
}

// sums adds each gradient to a slot of its variable.
func (o Accumulate) sums(gvs []GradVar) (sums []*tf.Variable, added []*tf.Operation) {
	for _, gv := range gvs {
		sum := gv.Var.Slot("accumulate", func() tf.Output { return zerosLike(gv.Var) })
		sums = append(sums, sum)
		beside(gv.Var, func() { added = append(added, sum.AssignAdd(gv.Grad.Output())) })
	}
	return sums, added
}

// apply adds the update by the means, after which sums are zero again.
func (o Accumulate) apply(gvs []GradVar, sums []*tf.Variable) (*tf.Operation, error) {
	means := make([]GradVar, len(gvs))
	for i, gv := range gvs {
		beside(gv.Var, func() {
			mean := sums[i].Read().Div(constLike(gv.Var, float64(o.Steps)))
			means[i] = GradVar{tf.Dense(mean), gv.Var}
		})
	}
	op, err := o.Optimizer.ApplyGradients(means)
	if err != nil {
		return nil, err
	}
	var reset []*tf.Operation
	for i, gv := range gvs {
		beside(gv.Var, func() { reset = append(reset, sums[i].Assign(zerosLike(gv.Var), tf.After(op))) })
	}
	return tf.Group(gvs[0].Var.Graph(), "reset", reset...), nil
}
