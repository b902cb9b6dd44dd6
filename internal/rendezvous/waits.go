package rendezvous

// A Wait is a receive that waits for a value of a step in this task.
type Wait struct {
	Step   int64
	Key    string
	Parked bool // the step has not begun here
}

// Waits returns receives that wait, up to limit, and how many there are in all.
// It looks at all steps: it is for people who want to know why one does not end.
func (m *Manager) Waits(limit int) (some []Wait, all int) {
	m.mu.Lock()
	steps := make([]*Remote, 0, len(m.steps))
	for _, e := range m.steps {
		steps = append(steps, e.remote)
	}
	m.mu.Unlock()
	for _, r := range steps {
		r.waits(func(w Wait) {
			if all++; len(some) < limit {
				some = append(some, w)
			}
		})
	}
	return some, all
}

func (r *Remote) waits(f func(Wait)) {
	r.mu.Lock()
	for _, p := range r.parked {
		f(Wait{r.step, p.key, true})
	}
	r.mu.Unlock()
	r.local.mu.Lock()
	defer r.local.mu.Unlock()
	for key, q := range r.local.table {
		if !q.waiting() {
			continue
		}
		for it := q.head; it != nil; it = it.next {
			f(Wait{r.step, key, false})
		}
	}
}
