package verbs

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// pollCompletions reads completions until the queue is closed. It is the one goroutine
// on which channels hear of what their queue pairs do.
func (a *Adapter) pollCompletions() {
	defer close(a.done)
	wc := make([]Completion, 64)
	for {
		n, err := a.next(wc)
		if err != nil {
			a.abandon(err)
			return
		}
		a.dispatch(wc[:n])
	}
}

// next returns completions as soon as there are some. It looks for them for a
// while before it sleeps: the next one mostly comes soon after the last.
func (a *Adapter) next(wc []Completion) (int, error) {
	for {
		if n, err := a.spin(wc); n > 0 || err != nil {
			return n, err
		}
		if err := a.cq.Arm(); err != nil {
			return 0, err
		}
		// What came before the queue was armed makes no event.
		if n, err := a.cq.Poll(wc); n > 0 || err != nil {
			return n, err
		}
		if err := a.cq.Wait(); err != nil {
			return 0, err
		}
	}
}

// spin polls as often as the configuration says, at least once. It counts
// instead of looking at the clock, which costs as much as a poll.
func (a *Adapter) spin(wc []Completion) (int, error) {
	n, err := a.cq.Poll(wc)
	for range a.config.BusyPoll {
		if n > 0 || err != nil {
			break
		}
		runtime.Gosched()
		n, err = a.cq.Poll(wc)
	}
	return n, err
}

// dispatch lets channels hear of their completions. What they post meanwhile
// goes out in one call for each channel, and so do the receives that take the
// place of those that were used up: first of all, so that peers do not run out
// of them.
func (a *Adapter) dispatch(wc []Completion) {
	a.batch = a.batch[:0]
	for _, w := range wc {
		if c := a.channel(w.QPN); c != nil { // else one that has been closed
			a.join(c, w)
		}
	}
	for _, c := range a.batch {
		c.beginBatch()
	}
	for _, w := range wc {
		if c := a.channel(w.QPN); c != nil {
			c.complete(w)
		}
	}
	for _, c := range a.batch {
		c.endBatch()
	}
}

// join makes c one of the channels that a batch of completions is for.
func (a *Adapter) join(c *Channel, w Completion) {
	if !c.inBatch {
		c.inBatch = true
		a.batch = append(a.batch, c)
	}
	if w.ID >= recvID && w.Status == Success {
		c.usedUp++
		c.lost = c.lost || w.ID != recvID+c.arrival
		c.arrival++
	}
}

func (a *Adapter) channel(qpn uint32) *Channel {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.channels[qpn]
}

// beginBatch holds back what is posted until endBatch.
func (c *Channel) beginBatch() {
	n := c.usedUp
	c.usedUp = 0
	if n > 0 && c.over() == nil {
		if err := c.replenish(n); err != nil {
			c.fail(unavailable(c.peer, err))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.corked = true
}

func (c *Channel) endBatch() {
	c.inBatch = false
	if c.flushed {
		c.fail(unavailable(c.peer, fmt.Errorf("a work request ended with %v", WRFlushErr)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.returnCredits()
	if err := c.out.uncork(); err != nil {
		c.failLater(err)
	}
}

// pollEvents hears of events until the device is closed.
func (a *Adapter) pollEvents() {
	defer a.events.Done()
	for {
		e, err := a.dev.NextEvent()
		if err != nil {
			if !errors.Is(err, ErrClosed) {
				a.abandon(fmt.Errorf("the device %s is lost: %w", a.name(), err))
			}
			return
		}
		a.handleEvent(e)
	}
}

// handleEvent reacts to an event.
func (a *Adapter) handleEvent(e Event) {
	log := a.config.Log.With("device", a.name(), "event", e.String())
	switch e.Kind {
	case EventQPFatal:
		log.Warn("an RDMA queue pair has failed", "qpn", e.QPN)
		if c := a.channel(e.QPN); c != nil {
			c.fail(unavailable(c.peer, fmt.Errorf("its queue pair has failed: %v", e)))
		}
	case EventDeviceLost:
		log.Error("an RDMA device is lost")
		a.abandon(fmt.Errorf("the device %s is lost: %v", a.name(), e))
	case EventPortDown:
		log.Warn("the port of an RDMA device is down")
		a.portDown(e)
	case EventPortActive:
		log.Info("the port of an RDMA device is active")
		a.portActive()
	default:
		log.Info("RDMA event")
	}
}

// portDown gives the port a while to come back: the device itself repeats what
// gets lost meanwhile. After that, what waits fails, so that steps end: a device
// that repeats without end would never tell.
func (a *Adapter) portDown(e Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.grace == nil && a.broken == nil {
		why := fmt.Errorf("the port of %s is down: %v", a.name(), e)
		a.grace = time.AfterFunc(a.config.PortGrace, func() { a.failAll(why) })
	}
}

func (a *Adapter) portActive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.grace != nil {
		a.grace.Stop()
		a.grace = nil
	}
}

func (a *Adapter) name() string { return a.dev.Attributes().Name }

// abandon fails what depends on completions that will never be read.
func (a *Adapter) abandon(err error) {
	a.mu.Lock()
	if a.broken == nil {
		a.broken = err
	}
	a.mu.Unlock()
	a.failAll(err)
}

// failAll fails all channels that there are.
func (a *Adapter) failAll(err error) {
	a.mu.Lock()
	var all []*Channel
	for _, c := range a.channels {
		all = append(all, c)
	}
	a.mu.Unlock()
	for _, c := range all {
		c.fail(unavailable(c.peer, err))
	}
}
