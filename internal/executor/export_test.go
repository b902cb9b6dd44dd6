package executor

// Planned counts the loops that have a plan.
func (e *Executor) Planned() (n int) {
	for k := range e.frames {
		if e.frames[k].plan != nil {
			n++
		}
	}
	return n
}

// Light counts the loops that would run by their plan now.
func (e *Executor) Light() (n int) {
	for k := range e.frames {
		if p := e.frames[k].plan; p != nil && e.light(p) {
			n++
		}
	}
	return n
}
