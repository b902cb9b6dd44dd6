package train

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Coordinator stops goroutines that work together: the first that fails or
// asks for it stops all, and Join reports why. It is safe for concurrent use.
//
//	coord := train.NewCoordinator(ctx)
//	coord.Go(func(ctx context.Context) error { ... })
//	...
//	coord.RequestStop(nil)
//	err := coord.Join()
type Coordinator struct {
	parent context.Context
	clean  func(error) bool
	heals  bool // another session is to go on when a task is lost

	mu      sync.Mutex
	ctx     context.Context
	cancel  context.CancelCauseFunc
	err     error // the first one that is to be reported
	running int
	idle    chan struct{} // closed while nothing runs
	joined  bool
}

// errStop is the cause of contexts of a coordinator that was asked to stop.
var errStop = errors.New("train: the coordinator was asked to stop")

// CleanStop reports whether err ends input as it should end: OutOfRange, which
// queues report when they are closed and empty.
func CleanStop(err error) bool { return tf.CodeOf(err) == tf.OutOfRange }

// NewCoordinator returns a coordinator that stops when ctx ends. Errors for
// which one of clean is true stop it but are not reported; without any, those
// of CleanStop. One without a context has stopped already: Join says why.
func NewCoordinator(ctx context.Context, clean ...func(error) bool) *Coordinator {
	if err := core.NeedContext(ctx, "a coordinator"); err != nil {
		over, cancel := context.WithCancelCause(context.Background())
		cancel(err)
		ctx = over
	}
	c := &Coordinator{parent: ctx, clean: CleanStop, idle: make(chan struct{})}
	if len(clean) > 0 {
		c.clean = func(err error) bool {
			for _, f := range clean {
				if f != nil && f(err) {
					return true
				}
			}
			return false
		}
	}
	close(c.idle)
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c
}

// Context returns a context that ends when the coordinator stops. ClearStop
// makes a new one.
func (c *Coordinator) Context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

// ShouldStop reports whether goroutines ought to end.
func (c *Coordinator) ShouldStop() bool { return c.Context().Err() != nil }

// WaitForStop waits until the coordinator stops or ctx ends, and reports
// whether it was the former. It does not wait without a context.
func (c *Coordinator) WaitForStop(ctx context.Context) bool {
	stop := c.Context()
	if ctx == nil {
		return stop.Err() != nil
	}
	select {
	case <-stop.Done():
		return true
	case <-ctx.Done():
		return stop.Err() != nil
	}
}

// RequestStop asks all to stop. Join reports the first err that is not nil and no
// clean stop. After Join it only stops: err is ignored.
func (c *Coordinator) RequestStop(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.err == nil && !c.joined && !c.clean(err) && !errors.Is(err, errStop) {
		c.err = err
	}
	if err == nil {
		err = errStop
	}
	c.cancel(err)
}

// ClearStop makes the coordinator ready for new goroutines after a stop.
func (c *Coordinator) ClearStop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined, c.err = false, nil
	if c.ctx.Err() != nil {
		c.cancel(errStop)
		c.ctx, c.cancel = context.WithCancelCause(c.parent)
	}
}

// Go runs f in a goroutine that Join waits for. An error of f stops all; an
// error that only says that f's context has ended is none. A panic stops all
// and is reported as an error.
func (c *Coordinator) Go(f func(ctx context.Context) error) {
	done, ctx := c.Register(), c.Context()
	go func() {
		defer done()
		defer func() {
			if p := recover(); p != nil {
				c.RequestStop(tf.Errorf(tf.Internal, "a goroutine of the coordinator panicked: %v", p))
			}
		}()
		if err := f(ctx); err != nil && !endOf(ctx, err) {
			c.RequestStop(err)
		}
	}()
}

// keeps reports whether queues are to stay open when err stops the coordinator: those of a
// cluster are also the next session's.
func (c *Coordinator) keeps(err error) bool {
	return errors.Is(err, errLostSession) || c.heals && lost(err)
}

// endOf reports whether err follows from the end of ctx.
func endOf(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)) || tf.CodeOf(err) == tf.Canceled
}

// Loop is Go for a function that is called again every interval, or without
// pause for an interval of 0, until the coordinator stops or f fails.
func (c *Coordinator) Loop(interval time.Duration, f func(ctx context.Context) error) {
	c.Go(func(ctx context.Context) error {
		tick := time.NewTimer(interval)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := f(ctx); err != nil {
				return err
			}
			tick.Reset(interval)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		return nil
	})
}

// Register makes Join wait for a goroutine that the program has started itself.
// It calls done, once, at its end.
func (c *Coordinator) Register() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running++; c.running == 1 {
		c.idle = make(chan struct{})
	}
	return sync.OnceFunc(c.ended)
}

func (c *Coordinator) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 {
		close(c.idle)
	}
}

// DefaultGrace is how long goroutines may take to end after a stop.
const DefaultGrace = 2 * time.Minute

// Join waits until the coordinator stops, or all of its goroutines have ended,
// and then at most grace, DefaultGrace if it is not given, for those still
// running. It returns the first error.
func (c *Coordinator) Join(grace ...time.Duration) error {
	c.mu.Lock()
	idle, ctx := c.idle, c.ctx
	c.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
		if !waitFor(idle, append(grace, DefaultGrace)[0]) {
			return c.report(c.stragglers())
		}
	}
	return c.report(nil)
}

func waitFor(idle chan struct{}, grace time.Duration) bool {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-idle:
		return true
	case <-t.C:
		return false
	}
}

func (c *Coordinator) stragglers() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("train: coordinator stopped with %d goroutines still running", c.running)
}

// report ends a Join: with the first error, the end of the parent context, or
// what is wrong otherwise.
func (c *Coordinator) report(otherwise error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined = true
	switch {
	case c.err != nil:
		return c.err
	case c.parent.Err() != nil && errors.Is(context.Cause(c.ctx), context.Cause(c.parent)):
		return context.Cause(c.parent)
	}
	return otherwise
}

// Err returns the error that Join would report now.
func (c *Coordinator) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
