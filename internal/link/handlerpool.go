package link

import "sync/atomic"

// A handlerPool is the goroutines of a link that run handlers. Up to
// maxIdleHandlers of them wait for the next call instead of ending: handlers
// call deep, and a new goroutine has to grow its stack for that. The pool does
// not bound how many handlers run at once, [Limits] does.
//
// The goroutines belong to serverConn.handlers. They end once the goroutine
// that reads the link has closed work, the only one that sends on it.
type handlerPool struct {
	work chan func() // closed when no more comes
	idle atomic.Int32
}

// maxIdleHandlers is how many goroutines of a pool wait for work at most.
const maxIdleHandlers = 4

// startHandler runs f on a goroutine of its own. Only the goroutine that reads the link
// calls it.
func (c *serverConn) startHandler(f func()) {
	select {
	case c.pool.work <- f:
	default:
		c.handlers.Go(func() { c.pool.loop(f) })
	}
}

// loop runs f, then further work until maxIdleHandlers others wait for some or
// work is closed.
func (c *handlerPool) loop(f func()) {
	for ok := true; ok; {
		f()
		if c.idle.Add(1) > maxIdleHandlers {
			c.idle.Add(-1)
			return
		}
		f, ok = <-c.work
		c.idle.Add(-1)
	}
}
