package rpc

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// A cursor reads a message that lies in pieces, as it came from the network.
// Its readers report false where the message ends too early or holds what is
// no varint, and stay so.
type cursor struct {
	rest mem.BufferSlice // pieces after cur
	cur  []byte
	left int // bytes in cur and rest
}

func newCursor(data mem.BufferSlice) *cursor {
	return &cursor{rest: data, left: data.Len()}
}

// piece makes cur hold at least one byte, unless none is left.
func (c *cursor) piece() bool {
	for len(c.cur) == 0 {
		if len(c.rest) == 0 {
			return false
		}
		c.cur, c.rest = c.rest[0].ReadOnlyData(), c.rest[1:]
	}
	return true
}

func (c *cursor) take(n int) {
	c.cur = c.cur[n:]
	c.left -= n
}

// varint reads a number.
func (c *cursor) varint() (uint64, bool) {
	if v, n := protowire.ConsumeVarint(c.cur); n > 0 {
		c.take(n)
		return v, true
	}
	return c.splitVarint()
}

// splitVarint reads a number that goes on in the next piece.
func (c *cursor) splitVarint() (uint64, bool) {
	var b []byte
	for len(b) < 10 && c.piece() {
		b = append(b, c.cur[0])
		c.take(1)
		if b[len(b)-1] < 0x80 {
			v, n := protowire.ConsumeVarint(b)
			return v, n > 0
		}
	}
	return 0, false
}

// length reads the length of something that must lie within the message.
func (c *cursor) length() (int, bool) {
	v, ok := c.varint()
	if !ok || v > uint64(c.left) {
		return 0, false
	}
	return int(v), true
}

// copy fills dst, which must not be longer than what is left.
func (c *cursor) copy(dst []byte) {
	for len(dst) > 0 && c.piece() {
		n := copy(dst, c.cur)
		dst = dst[n:]
		c.take(n)
	}
}

// skip passes over n bytes, no more than are left.
func (c *cursor) skip(n int) {
	for n > 0 && c.piece() {
		m := min(n, len(c.cur))
		n -= m
		c.take(m)
	}
}
