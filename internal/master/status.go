package master

import "time"

// A SessionStatus says how a session is.
type SessionStatus struct {
	Handle     string
	Nodes      int       // of the graph that the client has sent
	Functions  int       // of its library
	Signatures int       // of steps that have been prepared
	Active     int       // calls under way
	Used       time.Time // when the last one ended
}

// Status is how a master is.
type Status struct {
	Sessions []SessionStatus
	Steps    int64 // calls of sessions under way
	Draining bool
}

// Status returns how the master is now.
func (m *Master) Status() Status {
	m.mu.Lock()
	all := make([]*session, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, s)
	}
	out := Status{Steps: m.steps.Load(), Draining: m.draining || m.closed}
	m.mu.Unlock()
	for _, s := range all {
		out.Sessions = append(out.Sessions, s.status())
	}
	return out
}

func (s *session) status() SessionStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SessionStatus{
		Handle: s.handle, Nodes: len(s.def.GetNode()), Functions: len(s.def.GetLibrary().GetFunction()),
		Signatures: len(s.steps), Active: s.active, Used: s.used,
	}
}
