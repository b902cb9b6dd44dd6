package verbs

import (
	"github.com/gorge-tf/gorge/internal/rendezvous"
)

// finish answers a request with what result returns. The receiver may compute
// a whole step on the goroutine that tells it, so it must not be the
// adapter's. The answer is settled before (claim): the peer may have another
// one by the time that goroutine runs.
func (c *Channel) finish(r *request, result func() rendezvous.Result) {
	first := c.claim(r)
	if c.enter() != nil {
		r.deliver(result(), first)
		return
	}
	go func() {
		defer c.wg.Done()
		r.deliver(result(), first)
	}()
}

// answer is finish for a result that is there.
func (c *Channel) answer(r *request, res rendezvous.Result) {
	c.finish(r, func() rendezvous.Result { return res })
}

// claim reports whether the request has no answer yet. The caller has
// one.
func (c *Channel) claim(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !r.answered
	r.answered = true
	return first
}

// deliver calls the request's done function, if the result is the first one.
func (r *request) deliver(res rendezvous.Result, first bool) {
	r.stop()
	switch {
	case first:
		r.done(res)
	case res.Tensor != nil:
		res.Tensor.Release()
	}
}

// failRequests answers all requests of a channel that is over, and takes back
// their memory from the peer, which cannot reach it any more.
func (c *Channel) failRequests(err error) {
	c.mu.Lock()
	all := c.requests.live
	c.requests.live = nil
	c.wg.Add(len(all))
	c.mu.Unlock()
	for _, r := range all {
		c.free(r)
		go func() {
			defer c.wg.Done()
			r.deliver(rendezvous.Result{Err: err}, c.claim(r))
		}()
	}
}
