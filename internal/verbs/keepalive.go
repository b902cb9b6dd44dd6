package verbs

import (
	"errors"
	"time"
)

// A queue pair reports that its peer is gone only if it has something to send. A
// task that waits for a tensor sends nothing, so the keepalive posts an empty
// write now and then, which needs neither memory of the peer nor a receive.

// runKeepalive checks all channels every Config.Pulse, until stop is closed.
func (m *Manager) runKeepalive(stop <-chan struct{}) {
	t := time.NewTicker(m.adapter.config.Pulse)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			m.keepalive()
		}
	}
}

func (m *Manager) keepalive() {
	m.mu.Lock()
	var all []*Channel
	for _, c := range m.channels {
		all = append(all, c)
	}
	m.mu.Unlock()
	for _, c := range all {
		c.keepalive()
	}
}

var errSilent = errors.New("the peer has not answered for too long")

// keepalive fails the channel if no request has completed for Config.Patience
// though some are under way, and posts an empty write if none is and receives
// wait. Some devices retry without end, so their own timeouts are not enough.
// A peer that has asked for the connection has as long to greet once receives wait
// for that: nothing is sent to it before.
func (c *Channel) keepalive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.out
	switch waits := len(c.requests.live) > 0; {
	case c.err != nil || !c.connected:
		return
	case !c.sendable && waits:
		c.silent++
	case !c.sendable:
		c.silent = 0
	case q.signaled == 0:
		c.silent = 0
		if waits {
			c.post(work{wr: SendWR{Op: OpWrite}})
		}
	case c.seen == q.ends:
		c.silent++
	default:
		c.silent = 0
	}
	c.seen = q.ends
	if k := c.adapter.config; c.silent > int(k.Patience/k.Pulse) {
		c.failLater(errSilent)
	}
}
