package worker

import (
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Status is how a worker is.
type Status struct {
	Sessions []string         // handles of those that masters and eager contexts have opened
	Steps    int              // that have run here and are not cleaned up
	Held     map[string]int64 // bytes in variables, queues and other resources, by their kind
}

// Status returns how the worker is now.
func (w *Worker) Status() Status {
	out := Status{Held: map[string]int64{}}
	w.mu.Lock()
	out.Steps = w.underWay()
	seen := map[*resource.Manager]bool{}
	see := func(s *session) {
		for _, d := range s.rt.Devices.List() {
			seen[d.Resources()] = true
		}
	}
	see(w.legacy)
	for handle, s := range w.sessions {
		out.Sessions = append(out.Sessions, handle)
		see(s)
	}
	w.mu.Unlock()
	for m := range seen {
		m.Each(func(_, _ string, value any) {
			if h, ok := value.(core.MemoryHolder); ok {
				kind, n := h.HeldMemory()
				out.Held[kind] += int64(n)
			}
		})
	}
	return out
}
