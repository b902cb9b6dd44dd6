package author

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Callee is a function that an operation has in an attribute, to call it
// later: for elements of a dataset.
type Callee struct {
	Attr string
	F    *tf.Function
}

// CallLater adds an operation that has functions in attributes. After the first
// inputs it gets what each of the functions captures, in their order, and then
// the last.
func CallLater(op string, first []tf.Output, fs []Callee, last []tf.Output, opts ...tf.Option) *tf.Operation {
	attrs, funcs := make([]string, len(fs)), make([]*tf.Function, len(fs))
	for i, c := range fs {
		attrs[i], funcs[i] = c.Attr, c.F
	}
	return graphs.CallLater(op, first, attrs, funcs, last, opts)
}

// CallBranch adds an operation that chooses by selector among functions that take args:
// op is "If", whose then branch is the first, or "Case". Where no branch has state it
// becomes StatelessIf or StatelessCase; op may name these as well. What one function
// captures, all get.
func CallBranch(op string, selector tf.Output, args []tf.Output, branches []*tf.Function, opts ...tf.Option) []tf.Output {
	return graphs.CallBranch(op, selector, args, branches, opts)
}

// CallLoop adds an operation that calls body with what body returned, vars the first time,
// as long as cond of the same returns true. op is "While", which becomes StatelessWhile
// where the two functions have no state, or that name. What they capture is the same in
// all iterations.
func CallLoop(op string, vars []tf.Output, cond, body *tf.Function, opts ...tf.Option) []tf.Output {
	return graphs.CallLoop(op, vars, cond, body, opts)
}

// CallGradient adds an op that takes what op takes, in, and the gradients of op's
// results, zeros where there is none, and returns gradients for all inputs of
// op but the first skip.
func CallGradient(name string, in []tf.Output, skip int, op *tf.Operation, dy []tf.Output, opts ...tf.Option) []tf.Output {
	return graphs.CallGradient(name, in, skip, op, dy, opts)
}

// CallGradients is the gradient function of operations that call the function
// in attribute f with all of their inputs.
func CallGradients(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return graphs.CallGradients(op, dy)
}

// BranchGradients is the gradient function of operations that choose by their
// first input among branches.
func BranchGradients(op *tf.Operation, branches []core.Func, dy []tf.Output) []tf.Gradient {
	return graphs.BranchGradients(op, branches, dy)
}

// LoopGradients is the gradient function of While.
func LoopGradients(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return graphs.LoopGradients(op, dy)
}

// SplitGradients makes Gradients of grads, those of the inputs in, and drops the
// gradients of inputs that can have none.
func SplitGradients(in, grads []tf.Output) []tf.Gradient { return graphs.SplitGradients(in, grads) }
