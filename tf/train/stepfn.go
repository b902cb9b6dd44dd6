package train

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// ErrStop ends training when the function of RunStepFn or Loop returns it.
var ErrStop = errors.New("train: the step function has asked to stop")

// A StepContext is what a function of RunStepFn works with.
type StepContext struct {
	// Session runs steps without hooks.
	Session *session.Session
	m       *MonitoredSession
	l       *live
}

// Run runs a step with the hooks. If the session was lost meanwhile, in a step of the
// MonitoredSession's own, the error is Aborted.
func (c *StepContext) Run(ctx context.Context, feeds session.Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	if err := core.NeedContext(ctx, "a step"); err != nil {
		return nil, err
	}
	if err := c.m.await(ctx); err != nil {
		return nil, err
	}
	defer c.m.unlock()
	switch {
	case c.m.closed:
		return nil, closedSession()
	case c.m.live.Load() != c.l:
		return nil, tf.Errorf(tf.Aborted, "a step function must work with the session at work, its session was lost and has been replaced")
	}
	out, _, err := c.m.step(ctx, c.l, RunArgs{Fetches: fetches, Feeds: feeds})
	return out, err
}

// RunStepFn calls f, which runs steps with and without hooks. If the session is
// lost, f is called again with another one. What f returns is returned: ErrStop
// says that training is over. f may call the methods of m, too: a step of m's Run is one
// with hooks.
func (m *MonitoredSession) RunStepFn(ctx context.Context, f func(ctx context.Context, c *StepContext) error) error {
	if f == nil {
		return tf.Errorf(tf.InvalidArgument, "a session needs a step function to call, got nil")
	}
	ctx, done := m.within(ctx)
	defer done()
	for {
		l, err := m.next(ctx)
		if err != nil {
			return err
		}
		err = f(ctx, &StepContext{l.s, m, l})
		if again, err := m.settle(ctx, l, err); !again {
			return err
		}
	}
}

// next returns the session that a step function is called with.
func (m *MonitoredSession) next(ctx context.Context) (*live, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	defer m.unlock()
	return m.alive(ctx)
}

// settle is again for a step function, which has not been in turn.
func (m *MonitoredSession) settle(ctx context.Context, l *live, err error) (bool, error) {
	m.lock()
	defer m.unlock()
	return m.again(ctx, l, err)
}

// Loop calls f, which runs a step with m, until training is over or f fails, and
// closes m: OutOfRange and ErrStop are good ends. The end of a context is an error. If it
// comes between two steps, the hooks' End is called, which saves a checkpoint; a step
// that it ends fails, and then End is not called. A program that wants the last
// checkpoint in any case returns ErrStop from f.
func (m *MonitoredSession) Loop(ctx context.Context, f func(ctx context.Context) error) error {
	if f == nil {
		return m.CloseWith(tf.Errorf(tf.InvalidArgument, "a loop must have a function to call, got nil"))
	}
	var err error
	for err == nil && !m.ShouldStop() {
		err = f(ctx)
	}
	cut := err == nil && m.cut()
	if err = m.CloseWith(err); err == nil && cut {
		err = context.Cause(m.ctx)
	}
	return err
}

// cut reports whether the context of the session has ended training, and nothing else.
func (m *MonitoredSession) cut() bool {
	m.lock()
	defer m.unlock()
	l := m.live.Load()
	return m.ctx.Err() != nil && l != nil && !l.stop
}

// Train is Loop for a program whose steps are all the same: it runs fetches, the
// operation of an optimizer above all, again and again.
func (m *MonitoredSession) Train(ctx context.Context, fetches ...tf.Fetchable) error {
	return m.Loop(ctx, func(ctx context.Context) error {
		_, err := m.Run(ctx, nil, fetches...)
		return err
	})
}
