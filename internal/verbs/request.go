package verbs

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A request is a receive under way. It lives until the peer has said the last
// word on it, which is a write or an error: even when its caller does not wait for the
// tensor any more, the peer may still write it.
type request struct {
	index     uint32
	key       string
	step      int64
	extension bool // only tasks that know Gorge's additions understand it
	alloc     rendezvous.Alloc
	done      func(rendezvous.Result)
	stop      func() bool // detaches the request from its context

	meta metaData       // of the tensor that there is room for
	buf  *memory.Buffer // for it, nil for objects and dead values
	dest segment        // where the peer writes

	answered bool // it is settled with what done is called
	dropped  bool // the tensor is not read if it comes
	released bool // the peer has been told that
}

// A requestTable numbers requests. The channel's lock guards it.
type requestTable struct {
	next uint32
	live map[uint32]*request
}

func (t *requestTable) add(r *request) {
	if t.live == nil {
		t.live = map[uint32]*request{}
	}
	for t.live[t.next] != nil {
		t.skip()
	}
	r.index = t.next
	t.live[r.index] = r
	t.skip()
}

func (t *requestTable) skip() {
	if t.next++; t.next > lastIndex {
		t.next = 0
	}
}

// recv receives what the peer sends under key in a step.
func (c *Channel) recv(ctx context.Context, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	if len(key) > maxLongKey {
		done(rendezvous.Result{Err: keyTooLong(key, maxLongKey)})
		return
	}
	m, ok := c.cache.get(key)
	c.start(ctx, &request{key: key, step: step, alloc: alloc, done: done}, m, ok && c.encodable(m.shape))
}

// start begins a receive. What is expected, if anything is, gets its room at once.
func (c *Channel) start(ctx context.Context, r *request, m metaData, expected bool) {
	if err := c.enter(); err != nil {
		r.done(rendezvous.Result{Err: err})
		return
	}
	defer c.wg.Done()
	// The last tensor's memory need not be what this one takes. If there is none,
	// the peer tells first what it has.
	if expected && (c.older != nil || c.prepare(r, m) != nil) {
		r.meta = metaData{}
	}
	if err := c.begin(ctx, r); err != nil {
		c.free(r)
		r.done(rendezvous.Result{Err: err})
	}
}

// encodable reports whether messages to the peer have a form for a shape.
func (c *Channel) encodable(s core.Shape) bool {
	if plainShape(s) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extended
}

func (c *Channel) begin(ctx context.Context, r *request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	c.requests.add(r)
	r.stop = context.AfterFunc(ctx, func() { c.abandon(r, context.Cause(ctx)) })
	err := c.ask(r)
	if err != nil {
		r.answered = true
		r.stop()
	}
	return err
}

func (r *request) message(t messageType) *message {
	m := &message{typ: t, index: r.index, key: r.key, step: r.step, meta: r.meta}
	m.addr, m.rkey = r.dest.remote()
	return m
}

// abandon answers a request whose context has ended. Its memory stays the
// peer's, which is asked to give it back.
func (c *Channel) abandon(r *request, why error) {
	c.mu.Lock()
	if r.answered {
		c.mu.Unlock()
		return
	}
	r.answered, r.dropped = true, true
	waits := c.err == nil && c.requests.live[r.index] == r
	unsent := waits && (c.tx.remove(r.index) || c.unhold(r))
	switch {
	case unsent:
		delete(c.requests.live, r.index)
		c.wg.Add(1)
	case waits:
		c.enqueueCancel(r)
	}
	c.mu.Unlock()
	if unsent {
		c.free(r)
		c.wg.Done()
	}
	r.done(rendezvous.Result{Err: why})
}

// enqueueCancel tells the peer that a tensor is not needed, if it understands that.
func (c *Channel) enqueueCancel(r *request) {
	if c.err == nil && c.extended && !r.released {
		r.released = true
		if c.older != nil {
			c.enqueue(r.olderMessage(olderCancel))
			return
		}
		c.enqueue(&message{typ: tensorCancel, index: r.index})
	}
}

// cancelDropped tells a peer that turns out to understand it which tensors
// are not needed any more.
func (c *Channel) cancelDropped() {
	for _, r := range c.requests.live {
		if r.dropped {
			c.enqueueCancel(r)
		}
	}
}

// take returns the request that the peer speaks of, out of the table.
func (c *Channel) take(index uint32) (*request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests.live[index]
	if r == nil {
		return nil, fmt.Errorf("it speaks of request %d, which does not exist", index)
	}
	delete(c.requests.live, index)
	return r, nil
}

// offered hears what the peer will send, for which there is no room yet.
func (c *Channel) offered(m *message) error {
	r, err := c.take(m.index)
	if err != nil {
		return err
	}
	c.cache.put(r.key, m.meta)
	if err := c.prepare(r, m.meta); err != nil {
		c.answer(r, rendezvous.Result{Err: err})
		c.decline(r, m.meta)
		return nil
	}
	c.resume(r)
	return nil
}

// decline tells the peer that a tensor has no place to go. A peer that cannot
// be told so sends it to memory that is not read.
func (c *Channel) decline(r *request, m metaData) {
	c.mu.Lock()
	r.dropped = true
	extended := c.extended
	c.mu.Unlock()
	if !extended && m.bytes <= c.limit {
		var err error
		if r.dest, err = c.adapter.room(m.bytes); err == nil {
			r.meta = m
		}
	}
	c.resume(r)
}

// resume puts a request back into the table, and tells the peer where its
// tensor is to go or that it is not needed.
func (c *Channel) resume(r *request) {
	c.mu.Lock()
	err := c.err
	if err == nil {
		c.requests.live[r.index] = r
		switch {
		case r.dropped && c.extended:
			c.enqueueCancel(r)
		case r.meta.dtype != core.Invalid:
			c.stats.retries.Add(1)
			c.enqueue(r.message(tensorReRequest))
		}
	}
	c.mu.Unlock()
	if err != nil { // too late to be failed with the others
		c.free(r)
		c.answer(r, rendezvous.Result{Err: err})
	}
}

// written hears that the peer has written the tensor of a request.
func (c *Channel) written(index uint32) error {
	r, err := c.take(index)
	if err != nil {
		return err
	}
	c.mu.Lock()
	dropped := r.dropped
	c.mu.Unlock()
	switch {
	case dropped:
		c.free(r)
		return nil
	case r.meta.dtype == core.Invalid:
		c.answer(r, rendezvous.Result{Err: core.Errorf(core.Internal, "%s sent a tensor before there was room for it", c.peer)})
		return fmt.Errorf("it wrote the tensor of request %d, which had no room for it", index)
	}
	c.finish(r, func() rendezvous.Result { return c.result(r) })
	return nil
}

// refused hears that there is no tensor for a request.
func (c *Channel) refused(m *message) error {
	r, err := c.take(m.index)
	if err == nil {
		c.answer(r, rendezvous.Result{Err: m.err})
		c.free(r)
	}
	return err
}
