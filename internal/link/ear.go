package link

import (
	"bufio"
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// An ear takes in what a peer says, for the goroutine that reads the link and,
// while that waits for a frame, for callers who look for their reply themselves.
type ear struct {
	nc   net.Conn
	raw  syscall.RawConn // nil: only the goroutine that reads can take anything in
	born time.Time
	last atomic.Int64 // the ear's age when something came

	// mu is held by who takes bytes from the connection.
	mu    sync.Mutex
	ahead []byte // taken in by a caller, not read yet
	rest  bool   // the reader waits for a frame of which nothing has come

	// Of callers who look:
	room  []byte
	bytes bytes.Reader
	frame *bufio.Reader
}

func newEar(nc net.Conn) *ear {
	e := &ear{nc: nc, born: time.Now()}
	if tcp, ok := nc.(*net.TCPConn); ok && canLook { // what lies over one, as TLS, has to read itself
		e.raw, _ = tcp.SyscallConn() // without it nobody looks
	}
	return e
}

// Read reads what has been taken in, then from the connection.
func (e *ear) Read(b []byte) (n int, err error) {
	if e.raw == nil {
		n, err = e.nc.Read(b)
	} else {
		n, err = e.wait(b)
	}
	if n > 0 {
		e.hears()
	}
	return n, err
}

func (e *ear) hears() { e.last.Store(int64(e.age())) }

func (e *ear) age() time.Duration { return time.Since(e.born) }

// between says that the reader has read all that came and waits for a frame.
func (e *ear) between() {
	e.mu.Lock()
	e.rest = len(e.ahead) == 0
	e.mu.Unlock()
}

// lookAhead is how much a caller who looks takes in at once.
const lookAhead = 16 << 10

// look gives the frames that have come as a whole to next; what is left, the
// reader reads. It does not wait.
func (e *ear) look(next func(*bufio.Reader) error) error {
	if !e.mu.TryLock() {
		return nil
	}
	defer e.mu.Unlock()
	if !e.rest {
		return nil
	}
	if e.room == nil {
		e.room = make([]byte, lookAhead)
		e.frame = bufio.NewReaderSize(&e.bytes, lookAhead) // messages may peek at all of themselves
	}
	n := e.glance(e.room)
	if n <= 0 {
		return nil
	}
	e.hears()
	e.ahead = e.room[:n]
	for f := whole(e.ahead); f > 0; f = whole(e.ahead) {
		e.bytes.Reset(e.ahead[:f])
		e.frame.Reset(&e.bytes)
		e.ahead = e.ahead[f:]
		if err := next(e.frame); err != nil {
			e.rest = false
			return err
		}
	}
	e.rest = len(e.ahead) == 0
	return nil
}

// whole returns the length of the frame that b begins with, 0 if its end is
// missing. What cannot begin a frame ends with what should be its header: the
// reader might wait for more of it for ever.
func whole(b []byte) int {
	if len(b) < headerSize {
		return 0
	}
	h, err := parseHeader(b)
	if err != nil {
		return headerSize
	}
	if n := headerSize + h.head + h.body; n <= len(b) {
		return n
	}
	return 0
}
