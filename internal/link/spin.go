package link

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// spinLimit is how long a caller polls for its reply before it blocks. Waking a
// blocked thread takes tens of microseconds, twice that if another thread reads
// the reply first. KVM's halt polling does the same for idle processors.
const spinLimit = 250 * time.Microsecond

// A spinPolicy decides whether callers of a link poll for their replies. It
// compares moving averages of how long calls took whose callers blocked and of
// those whose callers polled, which is slower where both ends compete for the
// same processors. Updates may overwrite each other: the averages are hints.
type spinPolicy struct {
	blockedMean, spunMean atomic.Int64 // nanoseconds; 0: no such call yet
	calls                 atomic.Uint32
}

// retryEvery is after how many calls the way that seems slower is tried once.
const retryEvery = 32

// shouldSpin decides for the next call.
func (h *spinPolicy) shouldSpin() bool {
	slept := h.blockedMean.Load()
	if slept == 0 || slept > int64(spinLimit) { // no reply would come in time
		return false
	}
	pays := h.spunMean.Load() < slept
	if h.calls.Add(1)%retryEvery == 0 {
		return !pays
	}
	return pays
}

// record adds a call to the averages.
func (h *spinPolicy) record(spun bool, d time.Duration) {
	mean := &h.blockedMean
	if spun {
		mean = &h.spunMean
	}
	d = max(1, min(d, 2*spinLimit))
	if old := mean.Load(); old > 0 {
		d = (d + time.Duration(old)) / 2
	}
	mean.Store(int64(d))
}

// spinners counts the callers of this process that poll.
var spinners atomic.Int32

// acquireSpinner reports whether one more caller may poll; it then has to take
// itself off spinners. At least one processor does not poll: while all are busy
// the scheduler does not ask the network which connections are ready.
func acquireSpinner() bool {
	if int(spinners.Add(1)) < min(runtime.GOMAXPROCS(0), runtime.NumCPU()) {
		return true
	}
	spinners.Add(-1)
	return false
}

// spin polls for the answer for up to spinLimit, if that pays, and reports
// whether it has polled. The answer may be there or not.
func (c *Client) spin(ctx context.Context, answer <-chan Reply) bool {
	if c.raw == nil || !c.spinPolicy.shouldSpin() || !acquireSpinner() {
		return false
	}
	defer spinners.Add(-1)
	for start := time.Now(); len(answer) == 0 && ctx.Err() == nil && time.Since(start) < spinLimit; {
		if err := c.poll(c.next); err != nil {
			c.end(err)
			break
		}
		runtime.Gosched()
	}
	return true
}
