package verbs

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// prepare makes room for a tensor.
func (c *Channel) prepare(r *request, m metaData) (err error) {
	c.free(r)
	switch {
	case m.bytes > c.limit:
		return c.tooLarge(m)
	case m.dead:
	case objects(m.dtype):
		r.dest, err = c.adapter.room(m.bytes)
	default:
		err = c.allocate(r, m)
	}
	if err == nil {
		r.meta = m
	}
	return err
}

// tooLarge is the error of a tensor beyond the limit.
func (c *Channel) tooLarge(m metaData) error {
	return core.Errorf(core.ResourceExhausted, "a tensor from %s must have at most %d bytes, %v%v has %d", c.peer, c.limit, m.dtype, m.shape, m.bytes)
}

func (c *Channel) allocate(r *request, m metaData) error {
	buf, err := r.alloc(m.dtype, m.shape)
	if err != nil {
		return err
	}
	if buf.Len() != m.bytes {
		buf.Unref()
		return core.Errorf(core.Internal, "memory for %v%v must have %d bytes, got %d", m.dtype, m.shape, m.bytes, buf.Len())
	}
	if r.dest, err = c.adapter.target(buf); err != nil {
		buf.Unref()
		return err
	}
	r.buf = buf
	return nil
}

// free gives back the memory of a request. The peer must not write there any
// more.
func (c *Channel) free(r *request) {
	c.release(&r.dest)
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

// result makes the tensor of a request whose bytes have arrived.
func (c *Channel) result(r *request) rendezvous.Result {
	m := r.meta
	c.stats.received.Add(1)
	defer c.free(r)
	switch {
	case m.dead:
		return rendezvous.Result{Dead: true}
	case objects(m.dtype):
		t, err := parseObjects(r.dest.bytes()[:m.bytes])
		return rendezvous.Result{Tensor: t, Err: err}
	}
	if r.dest.buf != r.buf {
		c.stats.stage(m.bytes)
		copy(r.buf.Bytes(), r.dest.bytes())
	}
	core.NormalizeBools(m.dtype, r.buf.Bytes())
	return rendezvous.Result{Tensor: core.TensorOf(m.dtype, m.shape, r.buf.Ref())}
}

func parseObjects(b []byte) (*core.Tensor, error) {
	p := &pb.TensorProto{}
	if err := proto.Unmarshal(b, p); err != nil {
		return nil, core.Errorf(core.Internal, "a tensor of objects must arrive as a TensorProto: %v", err)
	}
	return core.TensorFromProto(p)
}
