package tf

import "github.com/gorge-tf/gorge/tf/core"

// A GradFunc adds to the graph of op what computes the gradients of op's
// inputs, given those of its outputs (the zero Output for an output on which
// nothing depends). The zero Gradient stands for none. It is what field Grad of
// a core.OpDef holds.
type GradFunc func(op *Operation, dy []Output) []Gradient

// A SparseGradFunc is the same for gradients in sparse form, for field
// SparseGrad.
type SparseGradFunc func(op *Operation, dy []Gradient) []Gradient

// Gradient makes a GradFunc a core.Gradient.
func (GradFunc) Gradient() {}

// SparseGradient makes a SparseGradFunc a core.SparseGradient.
func (SparseGradFunc) SparseGradient() {}

// gradFunc returns the gradient function of d, nil if it has none.
func gradFunc(d *core.OpDef) GradFunc {
	if d.Function {
		return callGrad(func(op *Operation) core.Func { return core.CalledByName(&op.Node) })
	}
	f, _ := d.Grad.(GradFunc)
	return f
}
