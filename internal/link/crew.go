package link

import "sync/atomic"

// A crew is the goroutines of a link that run handlers. A few of them wait for
// the next call: handlers go deep, and each new goroutine has to grow its stack
// for them.
type crew struct {
	work    chan func() // closed when no more comes
	resting atomic.Int32
}

// rested is how many of a crew wait for work at most.
const rested = 4

// run runs f on a goroutine of its own. Only the goroutine that reads the link
// calls it.
func (c *serverConn) run(f func()) {
	select {
	case c.crew.work <- f:
	default:
		c.handlers.Go(func() { c.crew.serve(f) })
	}
}

// serve runs f, and then what else comes, unless enough others wait for that.
func (c *crew) serve(f func()) {
	for ok := true; ok; {
		f()
		if c.resting.Add(1) > rested {
			c.resting.Add(-1)
			return
		}
		f, ok = <-c.work
		c.resting.Add(-1)
	}
}
