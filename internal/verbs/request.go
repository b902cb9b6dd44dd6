package verbs

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// A request is a receive under way. It lives until the peer has said the last
// word on it, which is a write or an error: even when nobody waits for the
// tensor any more, the peer may still write it.
type request struct {
	index uint32
	key   string
	step  int64
	alloc rendezvous.Alloc
	done  func(rendezvous.Result)
	stop  func() bool // detaches the request from its context

	meta metaData       // of the tensor that there is room for
	buf  *memory.Buffer // for it, nil for objects and dead values
	land segment        // where the peer writes

	answered bool // done has been called
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
	if t.next++; t.next > maxIndex {
		t.next = 0
	}
}

// recv receives what the peer sends under key in a step.
func (c *Channel) recv(ctx context.Context, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	if len(key) > maxKey {
		done(rendezvous.Result{Err: tf.Errorf(tf.InvalidArgument, "a rendezvous key must have at most %d bytes to be sent by RDMA, %s has %d", maxKey, key, len(key))})
		return
	}
	r := &request{key: key, step: step, alloc: alloc, done: done}
	if m, ok := c.cache.get(key); ok && c.canSay(m.shape) {
		// The last tensor's memory need not be what this one takes. If there
		// is none, the peer tells first what it has.
		if c.prepare(r, m) != nil {
			r.meta = metaData{}
		}
	}
	if err := c.begin(ctx, r); err != nil {
		c.free(r)
		done(rendezvous.Result{Err: err})
	}
}

// canSay reports whether messages to the peer have a form for a shape.
func (c *Channel) canSay(s tf.Shape) bool {
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
	c.say(r.message(tensorRequest))
	return nil
}

func (r *request) message(t messageType) *message {
	m := &message{typ: t, index: r.index, key: r.key, step: r.step, meta: r.meta}
	m.addr, m.rkey = r.land.remote()
	return m
}

// prepare makes room for a tensor.
func (c *Channel) prepare(r *request, m metaData) (err error) {
	c.free(r)
	switch {
	case m.bytes > c.limit:
		return tf.Errorf(tf.ResourceExhausted, "a tensor from %s must have at most %d bytes, %v%v has %d", c.peer, c.limit, m.dtype, m.shape, m.bytes)
	case m.dead:
	case objects(m.dtype):
		r.land, err = c.adapter.room(m.bytes)
	default:
		err = c.allocate(r, m)
	}
	if err == nil {
		r.meta = m
	}
	return err
}

func (c *Channel) allocate(r *request, m metaData) error {
	buf, err := r.alloc(m.dtype, m.shape)
	if err != nil {
		return err
	}
	if buf.Len() != m.bytes {
		buf.Unref()
		return tf.Errorf(tf.Internal, "memory for %v%v must have %d bytes, got %d", m.dtype, m.shape, m.bytes, buf.Len())
	}
	if r.land, err = c.adapter.target(buf); err != nil {
		buf.Unref()
		return err
	}
	r.buf = buf
	return nil
}

// free gives back the memory of a request. The peer must not write there any
// more.
func (c *Channel) free(r *request) {
	c.release(&r.land)
	if r.buf != nil {
		r.buf.Unref()
	}
	r.buf, r.meta = nil, metaData{}
}

// release gives a segment back, which at worst leaves its memory registered.
func (c *Channel) release(s *segment) {
	if err := s.release(); err != nil {
		c.log.Warn("memory could not be deregistered", "error", err)
	}
}

// abandon answers a request whose context has ended. Its memory stays the
// peer's, who is asked to give it back.
func (c *Channel) abandon(r *request, why error) {
	c.mu.Lock()
	if r.answered {
		c.mu.Unlock()
		return
	}
	r.answered = true
	if c.err == nil && c.extended && c.requests.live[r.index] == r {
		c.say(&message{typ: tensorCancel, index: r.index})
	}
	c.mu.Unlock()
	r.done(rendezvous.Result{Err: why})
}

// cancelAnswered tells a peer that turns out to understand it which tensors
// are not needed any more.
func (c *Channel) cancelAnswered() {
	for _, r := range c.requests.live {
		if r.answered {
			c.say(&message{typ: tensorCancel, index: r.index})
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
// be told so sends it to where nobody reads it.
func (c *Channel) decline(r *request, m metaData) {
	c.mu.Lock()
	extended := c.extended
	c.mu.Unlock()
	if !extended && m.bytes <= c.limit {
		var err error
		if r.land, err = c.adapter.room(m.bytes); err == nil {
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
		case r.answered && c.extended:
			c.say(&message{typ: tensorCancel, index: r.index})
		case r.meta.dtype != tf.Invalid:
			c.say(r.message(tensorReRequest))
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
	if r.meta.dtype == tf.Invalid {
		c.answer(r, rendezvous.Result{Err: tf.Errorf(tf.Internal, "%s sent a tensor before there was room for it", c.peer)})
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

// result makes the tensor of a request whose bytes have arrived.
func (c *Channel) result(r *request) rendezvous.Result {
	m := r.meta
	defer c.free(r)
	switch {
	case m.dead:
		return rendezvous.Result{Dead: true}
	case objects(m.dtype):
		t, err := parseObjects(r.land.bytes()[:m.bytes])
		return rendezvous.Result{Tensor: t, Err: err}
	}
	if r.land.buf != r.buf {
		copy(r.buf.Bytes(), r.land.bytes())
	}
	return rendezvous.Result{Tensor: tf.TensorOf(m.dtype, m.shape, r.buf.Ref())}
}

func parseObjects(b []byte) (*tf.Tensor, error) {
	p := &pb.TensorProto{}
	if err := proto.Unmarshal(b, p); err != nil {
		return nil, tf.Errorf(tf.Internal, "a tensor of objects must arrive as a TensorProto: %v", err)
	}
	return tf.TensorFromProto(p)
}
