package link

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// vigil is how long a caller looks out for his reply himself before he sleeps:
// it costs tens of microseconds until a thread that sleeps runs again, twice if
// it is another one that reads. KVM lets idle processors look out so.
const vigil = 250 * time.Microsecond

// A habit is what the last calls of a link have taken, roughly: those whose
// callers slept, and those whose callers looked out, which does not pay where
// both ends want the same processors.
type habit struct {
	slept, looked atomic.Int64 // nanoseconds; 0: nobody has
	calls         atomic.Uint32
}

// again is after how many calls the worse way is tried once.
const again = 32

// looks decides for the next call.
func (h *habit) looks() bool {
	slept := h.slept.Load()
	if slept == 0 || slept > int64(vigil) { // it would be in vain
		return false
	}
	pays := h.looked.Load() < slept
	if h.calls.Add(1)%again == 0 {
		return !pays
	}
	return pays
}

// took learns from a call.
func (h *habit) took(looked bool, d time.Duration) {
	mean := &h.slept
	if looked {
		mean = &h.looked
	}
	d = max(1, min(d, 2*vigil))
	if old := mean.Load(); old > 0 {
		d = (d + time.Duration(old)) / 2
	}
	mean.Store(int64(d))
}

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

// lookout waits a little for the answer, if that pays, and reports whether it has.
func (c *Client) lookout(ctx context.Context, answer <-chan Reply) bool {
	if c.raw == nil || !c.habit.looks() || !mayLookOut() {
		return false
	}
	defer lookouts.Add(-1)
	for start := time.Now(); len(answer) == 0 && ctx.Err() == nil && time.Since(start) < vigil; {
		if err := c.look(c.next); err != nil {
			c.end(err)
			break
		}
		runtime.Gosched()
	}
	return true
}
