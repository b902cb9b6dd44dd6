package tf

// GradientOverrideMap calls f; the gradients of the operations that f adds are
// computed, for those of an op that funcs names, by the function given there. This holds
// for graphs that f imports, too. What TensorFlow's programs have given a gradient of
// its own goes by the name of that, such as "CustomGradient-2", and has no other.
func (g *Graph) GradientOverrideMap(funcs map[string]GradFunc, f func()) {
	g = g.current()
	merged := map[string]GradFunc{}
	for _, m := range []map[string]GradFunc{g.scope.overrides, funcs} {
		for op, grad := range m {
			merged[op] = grad
		}
	}
	during(&g.scope.overrides, merged, f)
}

// registeredGradient is the attribute by which programs in Python name the function that
// they have registered for the gradient of an operation. The graph has no more of it.
const registeredGradient = "_gradient_op_type"

// override returns the function that the maps in force have for op, nil if there is none.
// The bodies of functions know no maps from around them, but are read when gradients are
// asked for: so what names its gradient may be in a map around that.
func (op *Operation) override() GradFunc {
	name := op.Str(registeredGradient)
	if name == "" {
		return op.g.scope.overrides[op.OpName()]
	}
	if grad := op.g.scope.overrides[name]; grad != nil {
		return grad
	}
	return op.g.outermost().scope.overrides[name]
}

// lacksGradient reports whether the gradient of op is one that only the program has that
// made the graph. The gradients that run in steps are those of ops, as in TensorFlow.
func (b *backprop) lacksGradient(op *Operation) bool {
	return op.grad == nil && op.Str(registeredGradient) != "" && !b.g.functions.symbolic
}
