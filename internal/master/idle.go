package master

import (
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// closeIdle closes sessions that no client has used for as long as the
// configuration allows, until the master ends. Clients that vanish leave them.
func (m *Master) closeIdle(limit time.Duration) {
	tick := time.NewTicker(max(limit/4, time.Millisecond)) // a ticker of 0 panics
	defer tick.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
		var wg sync.WaitGroup
		for _, s := range m.idle(limit) {
			s.log.Info("closing an unused session", "idle", limit)
			wg.Go(func() {
				s.end(core.Errorf(core.Aborted, "Session %s has not been used for %v.", s.handle, limit))
				s.leave()
			})
		}
		wg.Wait()
	}
}

// idle takes out the sessions that have not been used for so long.
func (m *Master) idle(limit time.Duration) (out []*session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for handle, s := range m.sessions {
		if s.idleFor() >= limit {
			delete(m.sessions, handle)
			out = append(out, s)
		}
	}
	return out
}

// idleFor is how long ago the last call of the session has ended.
func (s *session) idleFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 {
		return 0
	}
	return time.Since(s.used)
}

// done ends what begin has counted.
func (s *session) done() {
	s.mu.Lock()
	s.active--
	s.used = time.Now()
	s.mu.Unlock()
	s.running.Done()
}
