package rpc

import (
	"bufio"
	"io"

	"google.golang.org/grpc/mem"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// metaRoom is what type and shape of a tensor, and the flags before them, take
// up at most, unless it has dozens of dimensions.
const metaRoom = 512

// ReadBody reads an answer of n bytes from a link. Plain elements that end it, as
// in what workers write, go from the connection straight to the receiver's memory.
func (r *TensorResponse) ReadBody(b *bufio.Reader, n int) error {
	front, err := b.Peek(min(n, metaRoom))
	if err != nil {
		return err
	}
	if d, s, size, ok := r.plan(&cursor{cur: front, left: n}); ok {
		if _, err := b.Discard(n - size); err != nil {
			return err
		}
		return r.stream(b, d, s, size)
	}
	r.reset()
	pool := mem.DefaultBufferPool()
	whole := pool.Get(n)
	if _, err := io.ReadFull(b, *whole); err != nil {
		pool.Put(whole)
		return err
	}
	data := mem.BufferSlice{mem.NewBuffer(whole, pool)}
	defer data.Free()
	if err := r.decode(data); err != nil {
		r.err = err
	}
	return nil
}

// plan reads up to the elements, of which there must be size bytes until the end.
func (r *TensorResponse) plan(c *cursor) (d core.DType, s core.Shape, size int, ok bool) {
	for c.left > 0 {
		tag, ok := c.varint()
		if !ok {
			return 0, nil, 0, false
		}
		if tag == tagTensor {
			return planTensor(c, r.Dead)
		}
		if !r.decodeFlag(tag, c) {
			return 0, nil, 0, false
		}
	}
	return 0, nil, 0, false
}

func planTensor(c *cursor, dead bool) (d core.DType, s core.Shape, size int, ok bool) {
	n, ok := c.length()
	if !ok || dead || c.left != n {
		return 0, nil, 0, false
	}
	if d, s, ok = decodeMeta(c, 0); !ok {
		return 0, nil, 0, false
	}
	size, ok = c.length()
	ok = ok && c.left == size && core.CheckSize(d, s) == nil && size == s.NumElements()*d.Size()
	return d, s, size, ok
}

// stream reads elements. An error is the connection's; one of the memory is left
// in r.err.
func (r *TensorResponse) stream(b *bufio.Reader, d core.DType, s core.Shape, size int) error {
	if r.alloc == nil {
		r.alloc = rendezvous.Allocate
	}
	buf, err := r.memory(d, s, size)
	if err != nil {
		r.err = err
		_, err = b.Discard(size)
		return err
	}
	if _, err := io.ReadFull(b, buf.Bytes()); err != nil {
		buf.Unref()
		return err
	}
	core.NormalizeBools(d, buf.Bytes())
	r.Tensor = core.TensorOf(d, s, buf)
	return nil
}

// Abandon frees the tensor of an answer whose caller has gone.
func (r *TensorResponse) Abandon() { r.reset() }
