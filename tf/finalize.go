package tf

// Finalize makes g read-only: what would be added to it from now on is not, and has the
// error FAILED_PRECONDITION "Graph is finalized and cannot be modified." with the line
// that asked for it, while g itself stays without an error. A program calls it before its
// steps: one that asks for v.Read() or x.Add(1) in each of them has the graph grow and the
// steps slow down. An eager graph, which computes what is added, is never finalized.
//
//	step := opt.Minimize(loss)
//	read := v.Read() // once, not in each step
//	g.Finalize()
//
// Sessions of package train finalize their graphs while they are open.
func (g *Graph) Finalize() {
	if g != nil && !g.IsEager() {
		g.outermost().published.finalize(true)
	}
}

// Finalized reports whether g is read-only: see [Graph.Finalize].
func (g *Graph) Finalized() bool { return g != nil && g.outermost().published.isFinalized() }

// checkOpen refuses what is added to a graph that is finalized.
func (g *Graph) checkOpen() error {
	if g.Finalized() {
		return Errorf(FailedPrecondition, "Graph is finalized and cannot be modified. Steps fetch operations that were added before")
	}
	return nil
}

func (p *published) finalize(v bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finalized = v
}

func (p *published) isFinalized() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finalized
}
