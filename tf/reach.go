package tf

import "fmt"

// A tensor of a loop's body has a value in each iteration, one of a branch only
// if the branch is taken: neither can be used outside. TensorFlow refuses the
// first when the graph is built and lets the second fail when it runs; here both
// are refused when the graph is built, with the lines of both ends.
//
// Gradients are exempt: what Differentiate adds reads values of loops by their
// histories, and those of branches where the branch is known to be taken.

// checkReach reports inputs and control inputs of o that are in a loop or a
// branch which o is not in.
func (o *Operation) checkReach() error {
	if o.g.outermost().scope.reaches > 0 || o.isSwitch() || o.isMerge() || o.isEnter() {
		return nil // these are how values get in and out
	}
	for _, x := range o.in {
		if err := o.g.scope.flow.reach(x.op, o.Name, "input"); err != nil {
			return err
		}
	}
	for _, op := range o.control {
		if err := o.g.scope.flow.reach(op, o.Name, "control input"); err != nil {
			return err
		}
	}
	return nil
}

// reach reports why user, which is in c, cannot use op as what role says.
func (c *ControlFlowContext) reach(op *Operation, user, role string) error {
	in := op.outputContext()
	for in != nil && in.contains(c) {
		in = nil
	}
	if in == nil {
		return nil
	}
	text := fmt.Sprintf("Cannot use '%s' as %s to '%s' because ", op.Name, role, user)
	loop, mine := in.enclosingLoop(), c.enclosingLoop()
	switch {
	case loop == nil || loop.contains(mine):
		text += fmt.Sprintf("'%s' is in a branch of a conditional", op.Name)
	case mine != nil:
		text += "they are in different while loops"
	default:
		text += fmt.Sprintf("'%s' is in a while loop", op.Name)
	}
	return Errorf(InvalidArgument, "%s. %s", text, in.leftFrom(op))
}

// leftFrom says where op, which is in c, was added and what to use instead.
func (c *ControlFlowContext) leftFrom(op *Operation) string {
	what := "conditional"
	if c.enclosingLoop() != nil {
		what = "loop"
	}
	return fmt.Sprintf("'%s'%s is known in its %s alone: use what the %s returns", op.Name, madeAt(op), what, what)
}

// madeAt returns " (added at main.go:12)".
func madeAt(op *Operation) string {
	if op.Pos() == "" {
		return ""
	}
	return " (added at " + op.Pos() + ")"
}

// finished reports whether g is the body of a function, to which nothing can be
// added any more.
func (g *Graph) finished() bool {
	return g.functions.body != nil && g.functions.body.done && g.outermost().scope.reaches == 0
}

// checkControl reports control inputs of o from graphs that it cannot wait for.
func (o *Operation) checkControl() error {
	for _, op := range o.control {
		switch {
		case op.g == o.g || op.g.encloses(o.g):
		case op.g.functions.body != nil:
			return outOfScope(op.Name, op)
		default:
			return Errorf(InvalidArgument, "control inputs must belong to one graph: %v%s is of another", op, madeAt(op))
		}
	}
	return nil
}

// outOfScope reports that name, of a function's body, is used around it.
func outOfScope(name string, op *Operation) error {
	return Errorf(InvalidArgument, "'%s' is out of scope and cannot be used here: it belongs to the body of function %s%s. Use what calls of the function return",
		name, op.g.functions.body.name, madeAt(op))
}

// CheckFetchable reports why sessions cannot fetch or run op: it is in a loop or
// a branch, and has one value or another in each iteration, or none.
func (op *Operation) CheckFetchable() error {
	c := op.outputContext()
	if op.g == nil || c == nil {
		return nil
	}
	return Errorf(InvalidArgument, "Operation '%s' has been marked as not fetchable. %s", op.Name, c.leftFrom(op))
}

// reaching calls f; what f adds may use tensors of any loop and branch.
func (g *Graph) reaching(f func()) {
	root := g.outermost()
	during(root, &root.scope.reaches, inForce(&root.scope, &root.scope.reaches)+1, f)
}

// InitScope calls f outside of the loops and branches that are being built, and
// of the control inputs in force: what f adds does not depend on them. Of an eager
// graph it is outside of functions that are being traced, too, and computed at once.
func (g *Graph) InitScope(f func()) {
	if g.IsEager() {
		g.directly(func() { g.outside(nil, f) })
		return
	}
	g = g.current()
	g.outside(nil, f)
}
