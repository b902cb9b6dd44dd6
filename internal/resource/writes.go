package resource

// Wrote notes that an object whose value others may have taken has another one now, or
// is no longer found. It is called after the change, and before the operation that makes
// it has ended: what begins then sees another count.
func (m *Manager) Wrote() { m.writes.Add(1) }

// Writes is how often Wrote has been called. As long as it stays the same, what was read
// after a call of Writes is current.
func (m *Manager) Writes() int64 { return m.writes.Load() }
