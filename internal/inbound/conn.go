package inbound

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// A Conn is a connection of a gRPC server that counts the unfinished messages of its
// peer: bytes of a stream's first message until it is whole, and what comes after it,
// which waits until the handler asks for it or the stream has ended.
type Conn struct {
	net.Conn
	holder *Holder
	once   sync.Once

	mu      sync.Mutex // held while what came or goes is looked at
	in, out scanner
	streams map[uint32]*stream
	last    uint32 // the highest number of a stream that has begun
	held    int64  // sum of the streams' bytes
}

// A stream is a call under way.
type stream struct {
	prefix [5]byte // of the message that comes: a flag and the length
	have   int     // bytes of prefix
	left   int64   // bytes of the message
	whole  bool    // one message has come
	part   int64   // what the message that comes takes
	other  int64   // what else is counted: headers, messages after the first
}

// Window is how much of a stream may come that its handler has not asked for. A handler
// that begins to read a message opens the window for all of it.
const Window = 4 << 20

// NewConn returns nc, which speaks HTTP/2 and has windows of [Window] bytes.
func NewConn(nc net.Conn) *Conn {
	c := &Conn{Conn: nc, streams: map[uint32]*stream{}}
	c.holder = Open(func() { _ = nc.SetDeadline(time.Unix(1, 0)) }) // fails only on one that has ended
	c.in = scanner{skip: prefaceSize, frame: c.came, data: c.data}
	c.out = scanner{frame: c.goes}
	return c
}

// Read reads and counts.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if more := c.look(&c.in, b[:n]); more > 0 {
		if end := c.holder.Take(more); end != nil {
			return 0, end
		}
	} else if more < 0 {
		c.holder.Give(-more)
	}
	return n, err
}

// Write writes. It looks for the ends of streams first: the peer may know of one as
// soon as it is written.
func (c *Conn) Write(b []byte) (int, error) {
	if less := c.look(&c.out, b); less < 0 {
		c.holder.Give(-less)
	}
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.once.Do(c.holder.Close)
	return c.Conn.Close()
}

// look looks at what came or goes and returns by how much the connection holds more.
func (c *Conn) look(s *scanner, b []byte) (more int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.held
	s.scan(b)
	return c.held - before
}

// headerCost is what a byte of compressed headers may take: one that stands for a field
// that came before is two strings.
const headerCost = 32

// came looks at a frame of the peer's; c.mu is held.
func (c *Conn) came(f frame) {
	switch f.kind {
	case kindHeaders, kindContinuation:
		if f.stream > c.last {
			c.last = f.stream
			c.streams[f.stream] = &stream{}
		}
		c.add(c.streams[f.stream], headerCost*int64(f.size))
	case kindData:
		if s := c.streams[f.stream]; s != nil {
			s.part += cost(f.size)
			c.held += cost(f.size)
		}
	case kindReset:
		c.drop(f.stream)
	}
}

// add counts bytes of a stream beside the message that comes.
func (c *Conn) add(s *stream, n int64) {
	if s != nil {
		n = min(n, max(0, Window-s.other))
		s.other += n
		c.held += n
	}
}

// goes looks at a frame to the peer: after the one that ends a stream nothing of it is
// kept. c.mu is held.
func (c *Conn) goes(f frame) {
	if f.kind == kindReset || f.flags&flagEndStream != 0 && (f.kind == kindHeaders || f.kind == kindData) {
		c.drop(f.stream)
	}
}

func (c *Conn) drop(number uint32) {
	if s := c.streams[number]; s != nil {
		c.held -= s.part + s.other
		delete(c.streams, number)
	}
}

// data looks at bytes of a stream's messages; c.mu is held.
func (c *Conn) data(number uint32, b []byte) {
	s := c.streams[number]
	for s != nil && len(b) > 0 {
		if s.have < len(s.prefix) {
			n := copy(s.prefix[s.have:], b)
			s.have += n
			b = b[n:]
			if s.have < len(s.prefix) {
				return
			}
			s.left = int64(binary.BigEndian.Uint32(s.prefix[1:]))
		}
		n := min(s.left, int64(len(b)))
		s.left -= n
		b = b[n:]
		if s.left == 0 {
			c.complete(s)
		}
	}
}

// complete ends a message of the stream. The first one is being read by its handler,
// further ones may wait for it.
func (c *Conn) complete(s *stream) {
	n := s.part
	c.held -= n
	s.part, s.have = 0, 0
	if s.whole {
		c.add(s, n)
	}
	s.whole = true
}

// cost is what a frame of data takes until it is read: gRPC reads those of more than a
// kilobyte into blocks of its pool's sizes.
func cost(n int) int64 {
	const perFrame = 128
	for _, size := range []int{4 << 10, 16 << 10} {
		if n > 1<<10 && n <= size {
			return int64(size + perFrame)
		}
	}
	return int64(n + perFrame)
}
