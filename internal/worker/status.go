package worker

// A Status is how a worker is.
type Status struct {
	Sessions []string // handles of those that masters and eager contexts have opened
	Steps    int      // that have run here and are not cleaned up
}

// Status returns how the worker is now.
func (w *Worker) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := Status{Steps: len(w.steps)}
	for handle := range w.sessions {
		out.Sessions = append(out.Sessions, handle)
	}
	return out
}
