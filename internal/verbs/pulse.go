package verbs

import (
	"errors"
	"time"
)

// A reliable connection tells that its peer is gone only to who sends. A task
// that waits for a tensor sends nothing, so that it writes nothing now and then:
// an empty write, which needs no memory of the peer and no receive.

// pulses looks after channels until stop is closed.
func (m *Manager) pulses(stop <-chan struct{}) {
	t := time.NewTicker(m.adapter.config.Pulse)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			m.pulse()
		}
	}
}

func (m *Manager) pulse() {
	m.mu.Lock()
	var all []*Channel
	for _, c := range m.channels {
		all = append(all, c)
	}
	m.mu.Unlock()
	for _, c := range all {
		c.pulse()
	}
}

var errSilent = errors.New("the peer has not answered for too long")

// pulse looks whether the peer is there, if something is expected from it. Some
// devices try to reach a peer without end; their owner does not.
func (c *Channel) pulse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.out
	if c.err != nil || !c.speaks {
		return
	}
	if q.loud == 0 {
		c.silent = 0
		if len(c.requests.live) > 0 {
			c.post(work{wr: SendWR{Op: OpWrite}})
		}
	} else if c.seen == q.ends {
		c.silent++
	} else {
		c.silent = 0
	}
	c.seen = q.ends
	if k := c.adapter.config; c.silent > int(k.Patience/k.Pulse) {
		c.failLater(errSilent)
	}
}
