package train

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorge-tf/gorge/tf/author"
)

// longestPause bounds the time between two attempts to make a session.
const longestPause = 10 * time.Second

// create makes a session, again and again if tasks are lost while it begins.
func (m *MonitoredSession) create(ctx context.Context) error {
	m.reopenGraph()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, longestPause) {
		err := m.createOnce(ctx)
		if err == nil {
			m.finalizeGraph()
		}
		if err == nil || !m.recover || !lost(err) {
			return err
		}
		slog.Info("An error was raised while a session was being created. This may be due to a preemption of a connected worker or parameter server. "+
			"A new session will be created.", "error", err)
		if !pause(ctx, wait) {
			return err
		}
	}
}

// finalizeGraph refuses operations that steps would add, until reopenGraph. As in
// TensorFlow, a graph that a program has finalized itself stays so.
func (m *MonitoredSession) finalizeGraph() {
	if !m.g.Finalized() {
		m.g.Finalize()
		m.froze = true
	}
}

func (m *MonitoredSession) reopenGraph() {
	if m.froze {
		author.Reopen(m.g)
		m.froze = false
	}
}
