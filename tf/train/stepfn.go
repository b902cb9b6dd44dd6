package train

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf"
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

// Run runs a step with the hooks.
func (c *StepContext) Run(ctx context.Context, feeds session.Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	out, _, err := c.m.step(ctx, c.l, RunArgs{Fetches: fetches, Feeds: feeds})
	return out, err
}

// RunStepFn calls f, which runs steps with and without hooks. If the session is
// lost, f is called again with another one. What f returns is returned: ErrStop
// says that training is over. The methods of m wait for f: it must not call them.
func (m *MonitoredSession) RunStepFn(ctx context.Context, f func(ctx context.Context, c *StepContext) error) error {
	return m.try(ctx, func(ctx context.Context, l *live) error { return f(ctx, &StepContext{l.s, m, l}) })
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
	m.mu.Lock()
	defer m.mu.Unlock()
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
