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
