package link

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// vigil is how long a caller looks out for his reply himself before he sleeps,
// if the last one came within that time: it costs tens of microseconds until a
// thread that sleeps runs again, twice if it is another one that reads. It is
// what KVM allows an idle processor for the same reason, and as it does, a reply
// that does not come ends the looking until one has been quick again.
const vigil = 200 * time.Microsecond

// lookouts are how many callers of this process look out.
var lookouts atomic.Int32

// mayLookOut reports whether one more caller may. A processor is left to all else:
// as long as one looks out the scheduler does not come to ask the network who has
// heard something.
func mayLookOut() bool {
	if int(lookouts.Add(1)) < min(runtime.GOMAXPROCS(0), runtime.NumCPU()) {
		return true
	}
	lookouts.Add(-1)
	return false
}

// lookout waits a little for the answer.
func (c *Client) lookout(ctx context.Context, answer <-chan Reply) {
	if c.raw == nil || !c.prompt.Load() || !mayLookOut() {
		return
	}
	defer lookouts.Add(-1)
	for start := time.Now(); len(answer) == 0 && ctx.Err() == nil && time.Since(start) < vigil; {
		if err := c.look(c.next); err != nil {
			c.end(err)
			return
		}
		runtime.Gosched()
	}
}
