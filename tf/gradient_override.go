package tf

import "strings"

// GradientOverrideMap calls f; the gradients of the operations that f adds are
// computed, for those of an op that funcs names, by the function given there. This holds
// for graphs that f imports, too. A graph that is written says of such operations, by
// attribute _gradient_op_type, that their gradient is another one, and who reads it has none
// for them without a map like this one. What TensorFlow's programs have given a gradient of
// its own goes by the name of that, such as "CustomGradient-2", and has no other but what the
// graph's library registers for the name, as that of a SavedModel does which was written with
// custom gradients.
func (g *Graph) GradientOverrideMap(funcs map[string]GradFunc, f func()) {
	g = g.current()
	merged := map[string]GradFunc{}
	for _, m := range []map[string]GradFunc{g.scope.overrides, funcs} {
		for op, grad := range m {
			merged[op] = grad
		}
	}
	during(g, &g.scope.overrides, merged, f)
}

// registeredGradient is the attribute by which programs in Python name the function that
// they have registered for the gradient of an operation. The graph has no more of it, unless
// its library has a function for the name.
const registeredGradient = "_gradient_op_type"

// override returns the function that the maps in force have for op, nil if there is none.
// The bodies of functions know no maps from around them, but are read when gradients are
// asked for: so what names its gradient may be in a map around that.
func (op *Operation) override() GradFunc {
	name := op.Str(registeredGradient)
	if name == "" {
		return op.g.scope.overrides[op.OpName()]
	}
	replaced := strings.TrimPrefix(name, overridePrefix)
	for _, g := range []*Graph{op.g, op.g.outermost()} {
		if grad := g.scope.overrides[name]; grad != nil {
			return grad
		}
		if grad := g.scope.overrides[replaced]; grad != nil && replaced == op.OpName() {
			return grad
		}
	}
	return nil
}

// The names by which graphs call gradients that only the program has. TensorFlow's
// programs have none of them, as a name that they know would stand for another gradient.
const (
	overridePrefix = "GradientOverride-" // of an op: what a map had for that
	customPrefix   = "CustomGradient-"   // of a node, behind the functions that it is in
)

// chooseGradient gives op the gradient that the maps in force have for it, if it has none of
// its own, and names it: who reads the graph must not take it for that of the op.
func (op *Operation) chooseGradient() {
	name := customPrefix + op.path()
	if op.grad == nil {
		op.grad, name = op.override(), overridePrefix+op.OpName()
	}
	if op.grad != nil && op.Str(registeredGradient) == "" {
		op.Attrs[registeredGradient] = name
	}
}

// path returns the name of op behind those of the functions that it is in.
func (op *Operation) path() string {
	path := op.Name
	for f := op.g.functions.body; f != nil; f = f.outer.functions.body {
		path = f.name + "/" + path
	}
	return path
}

// lacksGradient reports whether the gradient of op is one that only the program has that
// made the graph. The gradients that run in steps are those of ops, as in TensorFlow.
func (b *backprop) lacksGradient(op *Operation) bool {
	return op.grad == nil && op.Str(registeredGradient) != "" && !b.g.functions.symbolic
}

// unregistered says that the gradient of op is not there.
func unregistered(op *Operation) error {
	return Errorf(NotFound, "No gradient defined for operation '%s' (op type: %s). The program that made it has registered one as %q: give that in a GradientOverrideMap around the import.",
		op.Name, op.OpName(), op.Str(registeredGradient))
}
