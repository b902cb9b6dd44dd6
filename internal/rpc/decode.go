package rpc

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// decode reads an answer. The order of fields that workers write lets elements
// go straight to the receiver's memory; any other valid encoding is read by
// way of a message. An error says that the bytes are no answer; that the
// receiver cannot take it is left in r.err.
func (r *TensorResponse) decode(data mem.BufferSlice) error {
	if r.alloc == nil {
		r.alloc = rendezvous.Allocate
	}
	if !r.decodeFast(newCursor(data)) {
		r.reset()
		if err := r.decodeAny(data); err != nil {
			r.reset()
			return err
		}
	}
	if (r.Dead || r.err != nil) && r.Tensor != nil {
		r.Tensor.Release()
		r.Tensor = nil
	}
	return nil
}

func (r *TensorResponse) reset() {
	if r.Tensor != nil {
		r.Tensor.Release()
	}
	*r = TensorResponse{alloc: r.alloc}
}

// decodeFast reports whether it could read all of the message.
func (r *TensorResponse) decodeFast(c *cursor) bool {
	seen := false
	for c.left > 0 {
		tag, ok := c.varint()
		if !ok {
			return false
		}
		if tag == tagTensor {
			if seen || !r.decodeTensor(c) {
				return false
			}
			seen = true
			continue
		}
		if !r.decodeFlag(tag, c) {
			return false
		}
	}
	return seen
}

func (r *TensorResponse) decodeFlag(tag uint64, c *cursor) bool {
	v, ok := c.varint()
	switch tag {
	case tagDead:
		r.Dead = v != 0
	case tagSendStart:
		r.SendStart = int64(v)
	case tagRequireAck:
		r.RequireAck = v != 0
	default:
		return false
	}
	return ok
}

// decodeTensor reads type, shape and elements, in this order.
func (r *TensorResponse) decodeTensor(c *cursor) bool {
	n, ok := c.length()
	if !ok {
		return false
	}
	end := c.left - n
	if r.Dead {
		c.skip(n)
		return true
	}
	d, s, ok := decodeMeta(c, end)
	if !ok {
		return false
	}
	size, ok := c.length()
	if !ok || c.left-size != end || core.CheckSize(d, s) != nil || size != s.NumElements()*d.Size() {
		return false
	}
	r.fill(d, s, c, size)
	return true
}

// decodeMeta reads up to the tag of the elements.
func decodeMeta(c *cursor, end int) (d core.DType, s core.Shape, ok bool) {
	s = core.Shape{}
	for c.left > end {
		tag, _ := c.varint()
		switch tag {
		case tagDType:
			if d, ok = decodeDType(c); !ok {
				return
			}
		case tagShape:
			if s, ok = decodeShape(c, s); !ok {
				return
			}
		case tagContent:
			return d, s, d.Size() > 0
		default:
			return d, s, false
		}
	}
	return d, s, false
}

func decodeDType(c *cursor) (core.DType, bool) {
	v, ok := c.varint()
	d := core.DType(v)
	return d, ok && v < 100 && d.Valid()
}

// decodeShape reads dimensions that have nothing but a size.
func decodeShape(c *cursor, s core.Shape) (core.Shape, bool) {
	n, ok := c.length()
	if !ok {
		return nil, false
	}
	for end := c.left - n; c.left > end; {
		d, ok := decodeDim(c)
		if !ok || c.left < end {
			return nil, false
		}
		s = append(s, d)
	}
	return s, true
}

func decodeDim(c *cursor) (int, bool) {
	if tag, ok := c.varint(); !ok || tag != tagDim {
		return 0, false
	}
	n, ok := c.length()
	end := c.left - n
	if !ok {
		return 0, false
	}
	if n == 0 {
		return 0, true // a size of 0 that was left out
	}
	if tag, ok := c.varint(); !ok || tag != tagSize {
		return 0, false
	}
	v, ok := c.varint()
	return int(v), ok && c.left == end
}

// fill copies size bytes of elements to memory of the receiver.
func (r *TensorResponse) fill(d core.DType, s core.Shape, c *cursor, size int) {
	buf, err := r.memory(d, s, size)
	if err != nil {
		r.err = err
		c.skip(size)
		return
	}
	c.copy(buf.Bytes())
	core.NormalizeBools(d, buf.Bytes())
	r.Tensor = core.TensorOf(d, s, buf)
}

func (r *TensorResponse) memory(d core.DType, s core.Shape, size int) (*memory.Buffer, error) {
	buf, err := r.alloc(d, s)
	if err != nil {
		return nil, err
	}
	if buf.Len() != size {
		buf.Unref()
		return nil, core.Errorf(core.Internal, "the memory for a received %v%v must have %d bytes, got %d", d, s, size, buf.Len())
	}
	return buf, nil
}

// decodeAny reads any valid encoding.
func (r *TensorResponse) decodeAny(data mem.BufferSlice) error {
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	var m pb.RecvTensorResponse
	if err := proto.Unmarshal(whole.ReadOnlyData(), &m); err != nil {
		return core.Errorf(core.Internal, "RecvTensor's answer is no RecvTensorResponse: %v", err)
	}
	r.Dead, r.SendStart, r.RequireAck = m.GetIsDead(), m.GetSendStartMicros(), m.GetRequireAck()
	if r.Dead {
		return nil
	}
	t, err := core.TensorFromProto(m.GetTensor())
	if err != nil {
		r.err = err
		return nil
	}
	r.Tensor, r.err = r.settle(t)
	return nil
}

// settle moves plain elements to the receiver's memory.
func (r *TensorResponse) settle(t *core.Tensor) (*core.Tensor, error) {
	if t.Buffer() == nil {
		return t, nil
	}
	defer t.Release()
	buf, err := r.memory(t.DType(), t.Shape(), t.Buffer().Len())
	if err != nil {
		return nil, err
	}
	copy(buf.Bytes(), t.Buffer().Bytes())
	return core.TensorOf(t.DType(), t.Shape(), buf), nil
}
