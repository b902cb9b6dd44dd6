package tf

// GradientOverrideMap calls f; the gradients of the operations that f adds are
// computed, for those of an op that funcs names, by the function given there.
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
