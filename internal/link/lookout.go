package link

import (
	"context"
	"runtime"
	"time"
)

// vigil is how long a caller looks out for his reply himself before he sleeps,
// if the last one came within that time: it costs tens of microseconds until a
// thread that sleeps runs again, twice if it is another one that reads. It is
// what KVM allows an idle processor for the same reason, and as it does, a reply
// that does not come ends the looking until one has been quick again.
const vigil = 200 * time.Microsecond

// lookout waits a little for the answer.
func (c *Client) lookout(ctx context.Context, answer <-chan Reply) {
	if c.raw == nil || !c.prompt.Load() || runtime.NumCPU() == 1 { // the peer may need it
		return
	}
	for start := time.Now(); len(answer) == 0 && ctx.Err() == nil && time.Since(start) < vigil; {
		if err := c.look(c.next); err != nil {
			c.end(err)
			return
		}
		runtime.Gosched()
	}
}
