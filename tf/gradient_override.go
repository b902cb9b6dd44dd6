package tf

// GradientOverrideMap calls f; the gradients of the operations that f adds are
// computed, for those of an op that funcs names, by the function given there.
func (g *Graph) GradientOverrideMap(funcs map[string]GradFunc, f func()) {
	g = g.current()
	old := g.overrides
	defer func() { g.overrides = old }()
	merged := map[string]GradFunc{}
	for _, m := range []map[string]GradFunc{old, funcs} {
		for op, grad := range m {
			merged[op] = grad
		}
	}
	g.overrides = merged
	f()
}
