package verbs

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// An olderSource is registered memory from which the tensors of a key are written, one
// at a time, to the peer's buffer for them.
type olderSource struct {
	key    string
	seg    segment
	addr   uint64 // of the peer's buffer
	rkey   uint32
	size   int  // of both
	asking bool // the peer has been asked for its buffer
	local  bool // ours is being written from
	remote bool // the peer's has something that it has not copied yet
	queue  []olderValue
}

// An olderValue is a value to be written.
type olderValue struct {
	r  *response
	v  *content
	to *memory.Buffer // the source's memory, referenced while the value is copied to it
}

// requested begins to wait for what the peer wants.
func (o *older) requested(m *olderMessage) error {
	c := o.c
	ctx, cancel := context.WithCancel(c.ctx)
	r := &response{index: uint32(m.size - 1), cancel: cancel, key: m.key, step: m.step, number: m.size}
	c.mu.Lock()
	if m.size == 0 {
		for o.serial--; c.responses[o.serial] != nil; o.serial-- {
		}
		r.index = o.serial
	}
	err := c.addResponse(r)
	c.mu.Unlock()
	if err != nil {
		cancel()
		return err
	}
	c.serve(ctx, m.step, m.key, func(t *core.Tensor, dead bool, err error) {
		cancel()
		c.produced(r, t, dead, err)
	})
	return nil
}

// message is one about the response.
func (r *response) olderMessage(t olderType) *olderMessage {
	return &olderMessage{typ: t, key: r.key, step: r.step, size: r.number}
}

// refuse tells the peer why it gets no tensor. TensorFlow's tasks cannot be told. The
// caller holds the lock.
func (o *older) refuse(r *response, err error) {
	if !o.c.extended {
		o.c.failLater(fmt.Errorf("the peer cannot be told that %s has no value: %w", r.key, err))
		return
	}
	m := r.olderMessage(olderError)
	m.err = err
	o.c.enqueue(m)
}

// send writes a value as soon as its buffer is free.
func (o *older) send(r *response, v *content) {
	c := o.c
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		v.release()
		return
	}
	s := o.sources[r.key]
	if s == nil && len(o.sources) >= maxOlderBuffers {
		c.mu.Unlock()
		v.release()
		c.refuse(r, core.Errorf(core.ResourceExhausted, "a connection of the older generation has buffers for at most %d keys", maxOlderBuffers))
		return
	}
	if s == nil {
		s = &olderSource{key: r.key}
		o.sources[r.key] = s
	}
	s.queue = append(s.queue, olderValue{r: r, v: v})
	c.mu.Unlock()
	o.pump(s)
}

// pump writes the next value of a source, if its buffers are free and large enough.
func (o *older) pump(s *olderSource) {
	for {
		x, refused := o.next(s)
		if refused != nil {
			x.v.release()
			o.c.refuse(x.r, refused)
			continue
		}
		if x.v != nil {
			o.write(s, x)
		}
		return
	}
}

// next takes the value that is to be written now, or asks for a buffer for it, or
// returns why it cannot be written.
func (o *older) next(s *olderSource) (x olderValue, refused error) {
	c := o.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || s.asking || s.local || s.remote || len(s.queue) == 0 {
		return x, nil
	}
	x = s.queue[0]
	m := olderMessage{key: s.key, meta: x.v.meta}
	if need := m.header() + x.v.meta.bytes; s.size < need {
		if err := o.askBuffer(s, need); err != nil {
			s.queue = s.queue[1:]
			return x, err
		}
		return olderValue{}, nil
	}
	s.queue[0] = olderValue{}
	s.queue = s.queue[1:]
	s.local, s.remote = true, true
	x.to = s.seg.buf.Ref()
	return x, nil
}

// askBuffer replaces the buffers of a source by larger ones. The caller holds the lock.
func (o *older) askBuffer(s *olderSource, n int) (err error) {
	if h := hash32(s.key); h == olderImmMessage || h == olderImmAck {
		return core.Errorf(core.Unimplemented, "the key %s has the number of a buffer for messages in the older generation of the RDMA protocol", s.key)
	}
	o.c.release(&s.seg)
	s.size = 0
	if s.seg, err = o.c.adapter.room(n); err != nil {
		return err
	}
	s.size, s.asking = n, true
	m := &olderMessage{typ: olderBufferRequest, key: s.key, size: uint64(n)}
	m.addr, m.rkey = s.seg.remote()
	o.c.enqueue(m)
	return nil
}

// bufferGiven hears where the peer's buffer is. Without a size there is none.
func (o *older) bufferGiven(m *olderMessage) error {
	c := o.c
	c.mu.Lock()
	s := o.sources[m.key]
	if s == nil || !s.asking {
		c.mu.Unlock()
		return fmt.Errorf("it gives a buffer for %s that it was not asked for", m.key)
	}
	s.asking, s.addr, s.rkey = false, m.addr, m.rkey
	var refused []olderValue
	if m.size < uint64(s.size) {
		refused, s.queue = s.queue, nil
		c.release(&s.seg)
		s.size = 0
	}
	c.mu.Unlock()
	for _, x := range refused {
		x.v.release()
		c.refuse(x.r, core.Errorf(core.ResourceExhausted, "the receiver has no buffer for %v%v of %d bytes", x.v.meta.dtype, x.v.meta.shape, x.v.meta.bytes))
	}
	o.pump(s)
	return nil
}

// write copies a value to its source and posts it. The source is busy meanwhile. The
// copy is made without the lock, so that drop can release the source's segment beside it.
func (o *older) write(s *olderSource, x olderValue) {
	c := o.c
	m := x.r.olderMessage(olderTensorWrite)
	m.meta = x.v.meta
	b := x.to.Bytes()
	n := m.put(b)
	n += copy(b[n:], x.v.bytes())
	c.stats.stage(x.v.meta.bytes)
	x.v.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	x.to.Unref()
	if c.err != nil {
		return
	}
	delete(c.responses, x.r.index)
	most, off := min(c.adapter.dev.Attributes().MaxMessage, maxPiece), 0
	for ; n-off > most; off += most {
		c.post(work{wr: SendWR{Op: OpWrite, Local: s.seg.sge(off, most), RemoteAddr: s.addr + uint64(off), RKey: s.rkey, Quiet: true}})
	}
	c.post(work{
		wr:  SendWR{Op: OpWriteImm, Imm: hash32(s.key), Local: s.seg.sge(off, n-off), RemoteAddr: s.addr + uint64(off), RKey: s.rkey},
		end: func() { o.sent(s) },
	})
}

// sent hears that a value has left its source.
func (o *older) sent(s *olderSource) {
	o.c.mu.Lock()
	s.local = false
	o.c.mu.Unlock()
	o.pump(s)
}

// idle hears that the peer has copied a value.
func (o *older) idle(m *olderMessage) error {
	o.c.mu.Lock()
	s := o.sources[m.key]
	ok := s != nil && s.remote
	if ok {
		s.remote = false
	}
	o.c.mu.Unlock()
	if !ok {
		return fmt.Errorf("it has copied a value of %s that was not sent", m.key)
	}
	o.pump(s)
	return nil
}
