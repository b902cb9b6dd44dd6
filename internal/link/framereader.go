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

// A frameReader reads a connection for two kinds of readers:
//
//   - the reader: the one goroutine of the link that reads all frames (Read);
//   - pollers: callers that spin for their reply and take complete frames off
//     the connection on their own goroutine while the reader waits (poll).
//
// Invariants, under mu:
//
//   - bytes are taken from the connection by the holder of mu only, and given
//     on in their order;
//   - readerIdle is true only while the reader waits for the first byte of a
//     frame and buffered is empty. A poller takes bytes only then, so it never
//     takes the middle of a frame that the reader has begun;
//   - TLS may hold more than what was taken of it, in which case nothing need be left
//     in the connection that would wake the reader. A poller therefore takes all that
//     there is, or wakes the reader itself (wakeReader);
//   - what a poller has taken and not given on, because a frame is incomplete,
//     lies in buffered. The reader gets it before anything else, and readerIdle
//     is false until it has.
//
// Pollers only try to lock mu and return if it is held. The reader must not
// wait for mu inside of the connection's own read lock, see readOnce.
type frameReader struct {
	nc           net.Conn
	raw          syscall.RawConn // nil: there is no polling
	below        *beneath        // what lies beneath TLS; nil: nc is plain, or there is no polling
	born         time.Time
	lastActivity atomic.Int64 // age when something last came, for the keepalive

	// mu is held while bytes are taken from the connection.
	mu         sync.Mutex
	buffered   []byte // taken by a poller, not read yet; part of pollBuf
	readerIdle bool   // the reader waits for a frame of which nothing has come

	// Of pollers:
	pollBuf   []byte
	pollBytes bytes.Reader
	pollFrame *bufio.Reader
}

func newFrameReader(nc net.Conn) *frameReader {
	r := &frameReader{nc: nc, born: time.Now()}
	r.attach()
	return r
}

// Read reads what pollers have taken, then from the connection. Only the reader
// calls it.
func (r *frameReader) Read(b []byte) (n int, err error) {
	if r.raw == nil {
		n, err = r.nc.Read(b)
	} else {
		n, err = r.wait(b)
	}
	if n > 0 {
		r.noteActivity()
	}
	return n, err
}

// noteActivity notes that the peer is there.
func (r *frameReader) noteActivity() { r.lastActivity.Store(int64(r.age())) }

func (r *frameReader) age() time.Duration { return time.Since(r.born) }

// awaitFrame says that the reader has given on all that it read, and waits for
// the next frame: from now on pollers may read.
func (r *frameReader) awaitFrame() {
	r.mu.Lock()
	r.readerIdle = len(r.buffered) == 0
	r.mu.Unlock()
}

// pollBuffer is how much a poller takes at once, and maxPolls how often before it leaves
// what comes to the reader: it has a deadline of its own, which a peer must not delay.
const (
	pollBuffer = 16 << 10
	maxPolls   = 16
)

// poll gives the frames that have come completely to next and leaves the rest to
// the reader. It does not wait: neither for bytes nor for mu.
func (r *frameReader) poll(next func(*bufio.Reader) error) error {
	if !r.mu.TryLock() {
		return nil
	}
	defer r.mu.Unlock()
	if !r.readerIdle {
		return nil
	}
	if r.pollBuf == nil {
		r.pollBuf = make([]byte, pollBuffer)
		r.pollFrame = bufio.NewReaderSize(&r.pollBytes, pollBuffer) // messages may peek at all of themselves
	}
	for polls := 1; ; polls++ {
		n := r.readAvailable(r.pollBuf)
		if n == 0 {
			return nil
		}
		r.noteActivity()
		if err := r.giveOn(n, next); err != nil || r.below == nil {
			return err
		}
		if !r.readerIdle || polls == maxPolls {
			r.wakeReader()
			return nil
		}
	}
}

// giveOn gives the complete frames of the n bytes in pollBuf to next.
func (r *frameReader) giveOn(n int, next func(*bufio.Reader) error) error {
	r.buffered = r.pollBuf[:n]
	for f := completeFrame(r.buffered); f > 0; f = completeFrame(r.buffered) {
		r.pollBytes.Reset(r.buffered[:f])
		r.pollFrame.Reset(&r.pollBytes)
		r.buffered = r.buffered[f:]
		if err := next(r.pollFrame); err != nil {
			r.readerIdle = false
			return err
		}
	}
	r.readerIdle = len(r.buffered) == 0
	return nil
}

// completeFrame returns the length of the frame that b begins with, 0 if its end is
// missing. What cannot begin a frame ends with what should be its header: the
// reader might wait for more of it for ever.
func completeFrame(b []byte) int {
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
