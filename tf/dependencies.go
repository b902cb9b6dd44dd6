package tf

import "slices"

// dependencies is the scope of one call of ControlDependencies.
//
// An operation that has an input from an operation of the scope runs after ops
// through that input, and gets no control inputs of its own for the scope, as in
// TensorFlow. The Merge that begins a loop must not have any: an operation cannot
// wait for one outside of the loop before there is a pivot.
type dependencies struct {
	ops   []*Operation
	after map[*Operation]bool // what was added in the scope
}

// ControlDependencies calls f; operations that f adds run after all of ops. If one of ops
// is nil, what f adds is refused with INVALID_ARGUMENT.
func (g *Graph) ControlDependencies(ops []*Operation, f func()) {
	g = g.current()
	scopes := append(slices.Clip(inForce(&g.scope, &g.scope.control)), &dependencies{slices.Clone(ops), map[*Operation]bool{}})
	during(g, &g.scope.control, scopes, f)
}

// dependenciesOf returns what an operation with these inputs has to wait for because
// of the scopes in force.
func (g *Graph) dependenciesOf(in []Output) (ops []*Operation) {
	g.scope.mu.Lock()
	defer g.scope.mu.Unlock()
	for _, d := range g.scope.control {
		if slices.ContainsFunc(in, func(x Output) bool { return d.after[x.op] }) {
			continue
		}
		for _, op := range d.ops {
			if !slices.ContainsFunc(in, func(x Output) bool { return x.op == op }) {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// noteDependent records that op belongs to the scopes in force.
func (g *Graph) noteDependent(op *Operation) {
	g.scope.mu.Lock()
	defer g.scope.mu.Unlock()
	for _, d := range g.scope.control {
		d.after[op] = true
	}
}
