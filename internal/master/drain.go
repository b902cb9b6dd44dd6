package master

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// drainEvery is how often a master that drains looks whether calls are under way.
const drainEvery = 5 * time.Millisecond

// Drain makes the master refuse new sessions and steps as Unavailable, and waits
// until the calls that are under way have ended, or ctx. It reports whether they
// have.
func (m *Master) Drain(ctx context.Context) bool {
	m.mu.Lock()
	m.draining = true
	m.mu.Unlock()
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for m.busy() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// busy reports whether calls of any session are under way.
func (m *Master) busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		s.mu.Lock()
		busy := s.active > 0 // m.mu comes before s.mu, as in idle
		s.mu.Unlock()
		if busy {
			return true
		}
	}
	return false
}

// admit refuses what is new while the master drains.
func (m *Master) admit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.draining {
		return m.leaving()
	}
	return nil
}

// leaving is what clients hear of a master that ends.
func (m *Master) leaving() error {
	return core.Errorf(core.Unavailable, "the master %s is shutting down", m.env.Task)
}
