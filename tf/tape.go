package tf

// record keeps what a tape needs to know of o; without a tape o forgets its
// inputs, so that a long eager computation holds no chain of values.
func (o *Operation) record() error {
	if o.g.tapes == 0 {
		o.in = nil
		return nil
	}
	o.g.taped = append(o.g.taped, o)
	return nil
}

// Record calls f and has an eager graph remember the operations that f adds,
// so that gradients can be taken through them until the outermost recording
// ends.
func (g *Graph) Record(f func()) {
	g.tapes++
	defer func() {
		if g.tapes--; g.tapes == 0 {
			g.taped = nil
		}
	}()
	f()
}

// history returns the operations through which gradients can flow.
func (g *Graph) history() []*Operation {
	if g.eval != nil {
		return g.taped
	}
	return g.Operations()
}
