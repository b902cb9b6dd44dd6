package verbs

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// An olderSink is registered memory to which the peer writes the tensors of a key.
type olderSink struct {
	key string
	seg segment
}

// request is the message by which a tensor is asked for.
func (r *request) olderMessage(t olderType) *olderMessage {
	return &olderMessage{typ: t, key: r.key, step: r.step, size: uint64(r.index) + 1}
}

// bufferWanted gives the peer a buffer for a key, in place of a smaller one.
func (o *older) bufferWanted(m *olderMessage) error {
	c := o.c
	h := hash32(m.key)
	if h == olderImmMessage || h == olderImmAck || m.size < fixedSize {
		return fmt.Errorf("it wants a buffer of %d bytes for %s", m.size, m.key)
	}
	c.mu.Lock()
	wanted := c.wants(m.key)
	old := o.sinks[h]
	delete(o.sinks, h)
	if old != nil {
		o.sinkBytes -= uint64(old.seg.buf.Len())
	}
	full := len(o.sinks) >= maxOlderBuffers || m.size > uint64(c.limit)+messageSize || o.sinkBytes+m.size > uint64(c.limit)+maxOlderBuffers*fixedSize
	c.mu.Unlock()
	answer := &olderMessage{typ: olderBufferResponse, key: m.key}
	if old != nil {
		c.release(&old.seg)
		if old.key != m.key {
			return fmt.Errorf("the keys %s and %s have the same number, %#x", old.key, m.key, h)
		}
	}
	if !wanted {
		return fmt.Errorf("it wants a buffer for %s, which it was not asked for", m.key)
	}
	if s := (&olderSink{key: m.key}); !full {
		var err error
		if s.seg, err = c.adapter.room(int(m.size)); err != nil {
			c.log.Warn("there is no room for a buffer by RDMA", "bytes", m.size, "error", err)
		} else {
			o.keepSink(h, s, answer)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer.size == 0 && !c.extended {
		return fmt.Errorf("there is no room for %d bytes, which it cannot be told", m.size)
	}
	c.enqueue(answer)
	return nil
}

// keepSink makes a sink the one of its number and says in answer where it is, unless
// the channel is over.
func (o *older) keepSink(h uint32, s *olderSink, answer *olderMessage) {
	c := o.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		c.release(&s.seg)
		return
	}
	o.sinks[h] = s
	o.sinkBytes += uint64(s.seg.buf.Len())
	answer.size = uint64(s.seg.buf.Len())
	answer.addr, answer.rkey = s.seg.remote()
}

// wants reports whether a tensor under a key is being asked for. The caller holds the
// lock.
func (c *Channel) wants(key string) bool {
	for _, r := range c.requests.live {
		if r.key == key {
			return true
		}
	}
	return false
}

// written copies what the peer has written to a sink, and gives it back.
func (o *older) written(imm uint32) error {
	c := o.c
	c.mu.Lock()
	s := o.sinks[imm]
	if s == nil {
		c.mu.Unlock()
		return fmt.Errorf("it wrote to the buffer %#x, which does not exist", imm)
	}
	buf := s.seg.buf.Ref() // drop may release the segment meanwhile
	c.mu.Unlock()
	defer buf.Unref()
	m, content, err := parseOlder(buf.Bytes())
	if err != nil {
		return err
	}
	if m.typ != olderTensorWrite || m.key != s.key || m.meta.bytes > len(content) {
		return fmt.Errorf("it wrote a message of type %d, key %s and %d bytes to the buffer of %s", m.typ, m.key, m.meta.bytes, s.key)
	}
	r, err := o.take(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	dropped := r.dropped
	c.mu.Unlock()
	var res rendezvous.Result
	if !dropped {
		res = o.result(r, m, content[:m.meta.bytes])
	}
	c.mu.Lock()
	if c.err == nil {
		c.enqueue(&olderMessage{typ: olderBufferIdle, key: m.key})
	}
	c.mu.Unlock()
	if !dropped {
		c.answer(r, res)
	}
	c.free(r)
	return nil
}

// take returns the request that a message answers, out of the table. TensorFlow's
// messages have no number: the key and the step are what they answer.
func (o *older) take(m *olderMessage) (*request, error) {
	c := o.c
	if m.size != 0 {
		r, err := c.take(uint32(m.size - 1))
		if err == nil && (r.key != m.key || r.step != m.step) {
			c.answer(r, rendezvous.Result{Err: unavailable(c.peer, errMixedUp)})
			return nil, errMixedUp
		}
		return r, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var found *request
	for _, r := range c.requests.live {
		if r.key == m.key && r.step == m.step && (found == nil || r.index < found.index) {
			found = r
		}
	}
	if found == nil {
		return nil, fmt.Errorf("it answers a request for %s in step %d, which does not exist", m.key, m.step)
	}
	delete(c.requests.live, found.index)
	return found, nil
}

var errMixedUp = fmt.Errorf("its answer has the number of a request for something else")

// result copies a value to memory of the receiver's.
func (o *older) result(r *request, m *olderMessage, content []byte) rendezvous.Result {
	c, meta := o.c, m.meta
	c.stats.received.Add(1)
	switch {
	case meta.bytes > c.limit:
		return rendezvous.Result{Err: c.tooLarge(meta)}
	case meta.dead:
		return rendezvous.Result{Dead: true}
	case objects(meta.dtype):
		t, err := parseObjects(content)
		return rendezvous.Result{Tensor: t, Err: err}
	}
	buf, err := r.alloc(meta.dtype, meta.shape)
	if err != nil {
		return rendezvous.Result{Err: err}
	}
	if buf.Len() != meta.bytes {
		buf.Unref()
		return rendezvous.Result{Err: core.Errorf(core.Internal, "memory for %v%v must have %d bytes, got %d", meta.dtype, meta.shape, meta.bytes, buf.Len())}
	}
	c.stats.stage(copy(buf.Bytes(), content))
	core.NormalizeBools(meta.dtype, buf.Bytes())
	return rendezvous.Result{Tensor: core.TensorOf(meta.dtype, meta.shape, buf)}
}

// refused hears that there is no tensor for a request.
func (o *older) refused(m *olderMessage) error {
	r, err := o.take(m)
	if err == nil {
		o.c.answer(r, rendezvous.Result{Err: m.err})
		o.c.free(r)
	}
	return err
}
