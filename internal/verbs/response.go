package verbs

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// A response is a tensor that the peer wants: first waited for, then perhaps
// offered, until the peer has made room for it.
type response struct {
	index  uint32
	cancel context.CancelFunc // of the wait
	room   metaData           // what the peer has room for, and where
	addr   uint64
	rkey   uint32

	// Of the older generation.
	key    string
	step   int64
	number uint64 // that the request had, 0 if none

	offer     *content // that the peer has been told of, nil before
	cancelled bool     // by the peer, before it was told of anything
}

// A content is what is to be written.
type content struct {
	meta    metaData
	tensor  *core.Tensor // of plain elements, nil for a dead value
	objects []byte       // the TensorProto of any other
}

// newContent describes a value and takes over t.
func newContent(t *core.Tensor, dead bool) (*content, error) {
	if dead {
		if t != nil {
			t.Release()
		}
		return &content{meta: deadMeta()}, nil
	}
	c := &content{meta: metaData{dtype: t.DType(), shape: t.Shape()}}
	if !objects(t.DType()) {
		c.tensor = t
		return c, c.meta.setBytes(uint64(t.Buffer().Len()))
	}
	defer t.Release()
	c.meta.shape = t.Shape().Clone()
	var err error
	if c.objects, err = encodeObjects(t); err != nil {
		return nil, err
	}
	return c, c.meta.setBytes(uint64(len(c.objects)))
}

// encodeObjects returns the TensorProto of a tensor of Go objects.
func encodeObjects(t *core.Tensor) ([]byte, error) {
	p, err := core.EncodeTensor(t)
	if err != nil {
		return nil, err
	}
	b, err := proto.Marshal(p)
	if err != nil {
		return nil, core.Errorf(core.Internal, "cannot encode %v%v: %v", t.DType(), t.Shape(), err)
	}
	return b, nil
}

func (c *content) release() {
	if c != nil && c.tensor != nil {
		c.tensor.Release()
	}
}

// bytes returns what is to be written.
func (c *content) bytes() []byte {
	if c.tensor != nil {
		return c.tensor.Buffer().Bytes()
	}
	return c.objects
}

// segment returns registered memory that is the content's own, or false if the
// content has to be copied.
func (c *content) segment(a *Adapter) (segment, bool) {
	if c.tensor != nil {
		return a.source(c.tensor.Buffer())
	}
	buf := memory.Adopt(c.objects, func() {})
	defer buf.Unref()
	s, ok := a.over(buf, 0)
	return s, ok || len(c.objects) == 0
}

// requested begins to wait for what the peer wants.
func (c *Channel) requested(m *message) error {
	ctx, cancel := context.WithCancel(c.ctx)
	r := &response{index: m.index, cancel: cancel, room: m.meta, addr: m.addr, rkey: m.rkey}
	c.mu.Lock()
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

// addResponse takes a request of the peer up. The caller holds the lock.
func (c *Channel) addResponse(r *response) error {
	switch {
	case c.responses[r.index] != nil:
		return fmt.Errorf("it uses the number of request %d, which is under way, again", r.index)
	case len(c.responses) >= maxResponses:
		return fmt.Errorf("it has %d requests under way, at most %d are served at a time", len(c.responses)+1, maxResponses)
	}
	c.responses[r.index] = r
	return nil
}

// maxResponses bounds what a peer can make us wait for.
const maxResponses = 1 << 18

// produced sends a value, or offers it if the peer expects something else. It
// runs on whatever goroutine has produced the value.
func (c *Channel) produced(r *response, t *core.Tensor, dead bool, err error) {
	if c.enter() != nil {
		if t != nil {
			t.Release()
		}
		return
	}
	defer c.wg.Done()
	var v *content
	if err == nil {
		v, err = newContent(t, dead)
	}
	if err == nil && !c.encodable(v.meta.shape) {
		err = core.Errorf(core.Unimplemented, "a shape must have at most 6 dimensions of 65534, or 3 of 4294967294, to be sent to TensorFlow by RDMA, got %v", v.meta.shape)
	}
	switch {
	case err != nil:
		v.release()
		c.refuse(r, err)
	case c.older != nil:
		c.older.send(r, v)
	case r.room.same(&v.meta):
		c.write(r, v)
	default:
		c.offer(r, v)
	}
}

// refuse tells the peer why it gets no tensor.
func (c *Channel) refuse(r *response, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		delete(c.responses, r.index)
		if c.older != nil {
			c.older.refuse(r, err)
			return
		}
		c.enqueue(&message{typ: errorStatus, index: r.index, err: err})
	}
}

// offer tells the peer what to make room for. A peer that has cancelled meanwhile says
// nothing more, so it gets the last word instead.
func (c *Channel) offer(r *response, v *content) {
	c.mu.Lock()
	if c.err != nil || r.cancelled {
		c.mu.Unlock()
		v.release()
		c.refuse(r, errCancelled)
		return
	}
	defer c.mu.Unlock()
	r.offer = v
	c.enqueue(&message{typ: metaDataUpdate, index: r.index, meta: v.meta})
}

var errCancelled = &core.Error{Code: core.Canceled, Msg: "the receive was cancelled", Derived: true}

// requestedAgain hears that the peer has made room for what it was offered.
func (c *Channel) requestedAgain(m *message) error {
	c.mu.Lock()
	r := c.responses[m.index]
	var v *content
	if r != nil {
		v, r.offer = r.offer, nil
	}
	c.mu.Unlock()
	switch {
	case v == nil:
		return fmt.Errorf("it repeats request %d, to which nothing was offered", m.index)
	case !m.meta.same(&v.meta):
		v.release()
		c.refuse(r, core.Errorf(core.Internal, "the receiver made room for %v%v, it was offered %v%v", m.meta.dtype, m.meta.shape, v.meta.dtype, v.meta.shape))
		return nil
	}
	r.addr, r.rkey = m.addr, m.rkey
	c.write(r, v)
	return nil
}

// cancelled hears that the peer does not need a tensor any more. What is being
// written by now it gets nevertheless.
func (c *Channel) cancelled(index uint32) {
	c.mu.Lock()
	r := c.responses[index]
	var v *content
	if r != nil {
		v, r.offer, r.cancelled = r.offer, nil, true
	}
	c.mu.Unlock()
	switch {
	case v != nil:
		v.release()
		c.refuse(r, errCancelled)
	case r != nil:
		r.cancel() // the wait ends with an error, which is sent
	}
}

// write writes a value to where the peer wants it.
func (c *Channel) write(r *response, v *content) {
	if !c.remote.inArena(r.addr, r.rkey, v.meta.bytes) { // the device would end the connection
		v.release()
		c.refuse(r, core.Errorf(core.InvalidArgument, "%d bytes at %#x are not in the memory in which the receiver takes tensors", v.meta.bytes, r.addr))
		return
	}
	if n := v.meta.bytes; n > 0 && n <= c.adapter.dev.Attributes().MaxInline {
		c.writeInline(r, v)
		return
	}
	s, ok := v.segment(c.adapter)
	if !ok {
		c.stage(r, v)
		return
	}
	n := v.meta.bytes
	v.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		c.release(&s)
		return
	}
	delete(c.responses, r.index)
	c.writeOut(r, s, n)
}

// writeInline posts a value together with the request, for which its memory
// need not be known to the device. Nothing waits for the request's end, so that it has
// no completion: the few bytes are cloned, since the request may have to wait until it
// is posted, and what it would hold until then, the tensor, is given back at once.
func (c *Channel) writeInline(r *response, v *content) {
	b := bytes.Clone(v.bytes())
	v.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	delete(c.responses, r.index)
	c.postContent(work{wr: SendWR{Op: OpWriteImm, Imm: r.index, Inline: b, RemoteAddr: r.addr, RKey: r.rkey, Quiet: true}})
}

// writeOut posts the writes of n bytes, the last of which tells the peer. They
// complete in order, so that the end of the last one is the end of all.
func (c *Channel) writeOut(r *response, s segment, n int) {
	most := min(c.adapter.dev.Attributes().MaxMessage, maxPiece)
	off := 0
	for ; n-off > most; off += most {
		c.post(work{wr: SendWR{Op: OpWrite, Local: s.sge(off, most), RemoteAddr: r.addr + uint64(off), RKey: r.rkey, Quiet: true}})
	}
	c.postContent(work{
		wr:  SendWR{Op: OpWriteImm, Imm: r.index, Local: s.sge(off, n-off), RemoteAddr: r.addr + uint64(off), RKey: r.rkey},
		end: func() { c.release(&s) },
	})
}

// maxPiece is what the length of a request can say, with some to spare.
const maxPiece = 1 << 31

// dropResponses releases what was offered to a peer that is gone. Those that
// still wait end with the channel's context.
func (c *Channel) dropResponses() {
	c.mu.Lock()
	all := c.responses
	c.responses = map[uint32]*response{}
	c.mu.Unlock()
	for _, r := range all {
		r.offer.release()
	}
}
