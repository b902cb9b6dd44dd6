package verbs

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// Keys that TensorFlow's messages have no room for can be sent to peers that know
// Gorge's additions. Whether a peer does, its ping says; until then requests with
// such keys are held.

func keyTooLong(key string, most int) error {
	return core.Errorf(core.InvalidArgument, "a rendezvous key must have at most %d bytes to be sent to this task by RDMA, %.64s... has %d", most, key, len(key))
}

// ask sends a request that is in the table, or holds it. The caller holds the
// lock. After an error the request is in the table no more.
func (c *Channel) ask(r *request) error {
	switch {
	case len(r.key) <= maxKey && !r.extension || c.extended:
		if c.older != nil {
			c.enqueue(r.olderMessage(olderTensorRequest))
		} else {
			c.enqueue(r.message(tensorRequest))
		}
	case c.pingSeen:
		delete(c.requests.live, r.index)
		return r.errUnsendable(c.peer)
	default:
		c.held = append(c.held, r)
	}
	return nil
}

// errUnsendable is why the request cannot be sent to a task of TensorFlow's.
func (r *request) errUnsendable(peer string) error {
	if r.extension {
		return noVerbs(peer)
	}
	return keyTooLong(r.key, maxKey)
}

// unhold takes a request out of those that are held, and reports whether it was
// one.
func (c *Channel) unhold(r *request) bool {
	i := slices.Index(c.held, r)
	if i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
	}
	return i >= 0
}

// askHeld sends the requests that were held, now that the peer is known. It
// returns those that cannot be sent.
func (c *Channel) askHeld() (cannot []*request) {
	for _, r := range c.held {
		if c.ask(r) != nil {
			cannot = append(cannot, r)
		}
	}
	c.held = nil
	return cannot
}

func (c *Channel) refuseHeld(cannot []*request) {
	for _, r := range cannot {
		c.answer(r, rendezvous.Result{Err: r.errUnsendable(c.peer)})
		c.free(r)
	}
}
