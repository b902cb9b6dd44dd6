package soft

import (
	"errors"
	"sync"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A completionQueue is a bounded list. As with hardware it is lost when it
// overflows, so its owner makes it large enough for all that can be posted.
type completionQueue struct {
	max    int
	event  chan struct{} // has a token after an armed completion
	closed chan struct{}

	mu      sync.Mutex
	entries []verbs.Completion
	armed   bool
	overrun bool
	over    bool // closed is closed
}

var errOverrun = errors.New("soft: completion queue overrun")

func newCQ(max int) *completionQueue {
	return &completionQueue{max: max, event: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (c *completionQueue) push(w verbs.Completion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) == c.max {
		c.overrun = true
	} else {
		c.entries = append(c.entries, w)
	}
	if c.armed {
		c.armed = false
		c.signal()
	}
}

func (c *completionQueue) signal() {
	select {
	case c.event <- struct{}{}:
	default:
	}
}

// Poll takes completions.
func (c *completionQueue) Poll(wc []verbs.Completion) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return 0, verbs.ErrClosed
	case c.overrun:
		return 0, errOverrun
	}
	n := copy(wc, c.entries)
	c.entries = c.entries[:copy(c.entries, c.entries[n:])]
	return n, nil
}

// Arm asks for an event at the next completion.
func (c *completionQueue) Arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return verbs.ErrClosed
	}
	c.armed = true
	return nil
}

// Wait waits for an event.
func (c *completionQueue) Wait() error {
	select {
	case <-c.closed:
		return verbs.ErrClosed
	case <-c.event:
		return nil
	}
}

// purge drops the completions of a queue pair that is no more.
func (c *completionQueue) purge(qpn uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.entries[:0]
	for _, w := range c.entries {
		if w.QPN != qpn {
			kept = append(kept, w)
		}
	}
	c.entries = kept
}

// Close ends all waiting.
func (c *completionQueue) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.closed)
	}
	return nil
}
