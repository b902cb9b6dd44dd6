package tf

import "github.com/gorge-tf/gorge/tf/core"

// arrive keeps the gradients of op's inputs.
func (b *backprop) arrive(op *Operation, dxs []Gradient) error {
	for i, dx := range dxs {
		if dx.IsZero() {
			continue
		}
		if err := dx.err(); err != nil {
			return err
		}
		if err := b.checkGradient(op, i, dx); err != nil {
			return blamed(op, err)
		}
		x := op.in[i]
		if dx.sparse == nil && x.DType().Base() != Resource {
			dx.dense.SetShape(x.Shape())
		}
		b.receive(x, dx)
	}
	return nil
}

// checkGradient refuses a gradient that does not fit input i of op. Gradients that
// functions of the program have computed may be of another type or graph, too.
func (b *backprop) checkGradient(op *Operation, i int, dx Gradient) error {
	x := op.in[i]
	if b.ownGradient(op) != nil {
		if _, bad := graphOf(b.g, dx.outputs()); bad != nil {
			return bad.err
		}
		if want, got := gradientType(x), dx.values().DType().Base(); want != Invalid && got != want {
			return Errorf(InvalidArgument, "Incompatible types between op input and calculated input gradient. Forward operation: %s. Input index: %d. Original input type: %v. Calculated input gradient type: %v",
				op.Name, i, want, got)
		}
	}
	if s := x.Shape(); dx.sparse == nil && x.DType().Base() != Resource && !dx.dense.Shape().Compatible(s) {
		return Errorf(InvalidArgument, "Incompatible shapes between op input and calculated input gradient. Forward operation: %s. Input index: %d. Original input shape: %v. Calculated input gradient shape: %v",
			op.Name, i, s, dx.dense.Shape())
	}
	return nil
}

// gradientType returns the type that gradients of x have, Invalid if that is not known:
// what cannot be differentiated has none.
func gradientType(x Output) DType {
	switch d := x.DType().Base(); {
	case d == Resource:
		return x.handleInfo().DType
	case differentiable(d):
		return d
	}
	return Invalid
}

// blamed names op in err and the line that has added it: in an eager graph, whose
// operations have none, the line that asks for gradients.
func blamed(op *Operation, err error) error {
	e := AsError(core.AtNode(err, &op.Node, describe(op.in)))
	if e.Pos == "" {
		e.Pos = caller()
	}
	return e
}
