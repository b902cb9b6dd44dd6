package train

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// Close calls End of all hooks, stops all goroutines and closes the session. The errors
// of all hooks are joined.
func (m *MonitoredSession) Close() error { return m.CloseWith(nil) }

// CloseWith is Close after err, which has ended training. If it is the end of the
// input (OutOfRange), or ErrStop, all is well and nil is returned unless closing
// fails. After any other error the hooks' End is not called, and the error is
// returned. Closing again only returns err.
func (m *MonitoredSession) CloseWith(err error) error {
	if errors.Is(err, ErrStop) || tf.CodeOf(err) == tf.OutOfRange {
		err = nil
	}
	return m.closeWith(err)
}

func (m *MonitoredSession) closeWith(err error) (closed error) {
	m.lock()
	defer m.unlock()
	if m.closed {
		return err
	}
	m.closed = true
	defer func() { closed = errors.Join(closed, m.closeHooks()) }() // also when a hook panics
	defer m.reopenGraph()
	if l := m.live.Swap(nil); l != nil {
		err = m.finish(l, err)
	}
	return err
}

// finish ends the last session.
func (m *MonitoredSession) finish(l *live, cause error) (err error) {
	defer func() { // also when a hook panics
		if e := m.end(l); err == nil && e != nil && !lost(e) && m.ctx.Err() == nil {
			err = e
		}
	}()
	if cause != nil {
		return cause
	}
	return m.endHooks(l.s)
}

// endHooks calls End of all hooks, also when one of them fails: the last checkpoint must
// not depend on a hook before it. TensorFlow leaves out those after the first that fails.
func (m *MonitoredSession) endHooks(s *session.Session) error {
	ctx, errs := context.WithoutCancel(m.ctx), []error(nil)
	for _, h := range m.hooks {
		if err := h.End(ctx, s); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// closeHooks closes those hooks that have something to close.
func (m *MonitoredSession) closeHooks() error { return closeAll(m.hooks) }

// closeAll closes all hooks, also when one of them fails or panics, and joins the errors.
func closeAll(hooks []Hook) (err error) {
	if len(hooks) == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, closeAll(hooks[1:])) }()
	if c, ok := hooks[0].(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
