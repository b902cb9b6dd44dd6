package verbs

import (
	"github.com/gorge-tf/gorge/internal/rendezvous"
)

// finish answers a request with what result returns. Who receives may compute
// a whole step on the goroutine that tells it, so that is none of the
// adapter's.
func (c *Channel) finish(r *request, result func() rendezvous.Result) {
	if c.enter() != nil {
		c.tell(r, result())
		return
	}
	go func() {
		defer c.wg.Done()
		c.tell(r, result())
	}()
}

// answer is finish for a result that is there.
func (c *Channel) answer(r *request, res rendezvous.Result) {
	c.finish(r, func() rendezvous.Result { return res })
}

// tell calls the request's done function unless its context did.
func (c *Channel) tell(r *request, res rendezvous.Result) {
	c.mu.Lock()
	late := r.answered
	r.answered = true
	c.mu.Unlock()
	r.stop()
	switch {
	case !late:
		r.done(res)
	case res.Tensor != nil:
		res.Tensor.Release()
	}
}

// failRequests answers all requests of a channel that is over, and takes back
// their memory from the peer, who cannot reach it any more.
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
			c.tell(r, rendezvous.Result{Err: err})
		}()
	}
}
