package train

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
)

// lock waits until no step and no other method is under way; unlock lets the next begin.
func (m *MonitoredSession) lock() { m.turn <- struct{}{} }

func (m *MonitoredSession) unlock() { <-m.turn }

// await is lock for a step: it does not wait beyond the end of ctx, as of a hook's step that
// calls methods which wait for it.
func (m *MonitoredSession) await(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// alive returns the session at work, a new one if the last was lost.
func (m *MonitoredSession) alive(ctx context.Context) (*live, error) {
	if m.closed {
		return nil, closedSession()
	}
	if m.live.Load() == nil {
		if err := m.create(ctx); err != nil {
			return nil, err
		}
	}
	return m.live.Load(), nil
}

func closedSession() error { return tf.Errorf(tf.FailedPrecondition, "Session is already closed.") }

// again reports whether what failed with err on l is to be done again, on another session; else
// the error is what it is due to.
func (m *MonitoredSession) again(ctx context.Context, l *live, err error) (bool, error) {
	err = l.reported(err)
	if err == nil || !m.recover || !lost(err) || ctx.Err() != nil || m.closed {
		return false, err
	}
	if m.live.Load() == l { // else a step within has replaced it
		m.drop(err)
	}
	return true, err
}
