//go:build unix

package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Beneath returns what lies beneath a TLS connection over nc, so that links can read
// what has come without waiting, and poll as they do in plain text. Give it to the
// handshake in nc's place.
func Beneath(nc net.Conn) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nc
	}
	return &beneath{TCPConn: tcp}
}

// A beneath is a TCP connection with TLS above it. Reads wait, but for those within
// take, which end with errNotYet where nothing has come. crypto/tls keeps what it has
// of a record then, and goes on with the next read: the error is a temporary one.
//
// fd and nonblocking belong to the holder of frameReader.mu. Reads of the handshake and
// of the preface happen before there is one.
//
// Writes wait, but for those within put, which keep what the connection does not take
// at once in rest. The next write that waits begins with it. crypto/tls writes one
// record at a time, also from goroutines that close the connection or answer alerts,
// hence mu.
type beneath struct {
	*net.TCPConn
	fd          int
	nonblocking bool
	woken       atomic.Bool // a poller has set a deadline that has passed, to wake the reader

	order sync.Mutex // of writes that wait; locked before mu
	mu    sync.Mutex
	putTo int    // the socket, within put; 0: writes wait
	rest  []byte // of records, not written yet

	note     func()       // notes that the peer is there; nil: no link is above; set before it writes
	progress atomic.Int64 // bytes that the peer has taken since a write deadline was set
}

// SyscallConn returns the connection's, by which links find their way through the TLS
// connection to what lies beneath it.
func (b *beneath) SyscallConn() (syscall.RawConn, error) {
	raw, err := b.TCPConn.SyscallConn()
	return rawBeneath{raw, b}, err
}

type rawBeneath struct {
	syscall.RawConn
	conn *beneath
}

// errNotYet says that nothing has come.
var errNotYet net.Error = notYet{}

type notYet struct{}

func (notYet) Error() string   { return "nothing has come yet" }
func (notYet) Timeout() bool   { return true }
func (notYet) Temporary() bool { return true } // crypto/tls asks for it

func (b *beneath) Read(p []byte) (int, error) {
	if !b.nonblocking {
		return b.TCPConn.Read(p)
	}
	n, err := read(b.fd, p)
	switch {
	case err == syscall.EAGAIN:
		return 0, errNotYet
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: b.LocalAddr(), Addr: b.RemoteAddr(), Err: os.NewSyscallError("read", err)}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// take reads without waiting from the TLS connection above.
func (b *beneath) take(above net.Conn, fd int, p []byte) (int, error) {
	b.fd, b.nonblocking = fd, true
	n, err := above.Read(p)
	b.nonblocking = false
	if err == error(errNotYet) {
		err = syscall.EAGAIN
	}
	return n, err
}

// put writes p to the TLS connection above without waiting. complete: nothing of the
// record is in rest.
func (b *beneath) put(above net.Conn, raw syscall.RawConn, p []byte) (complete bool, err error) {
	closed := raw.Control(func(fd uintptr) {
		b.setPutTo(int(fd))
		defer b.setPutTo(0)
		_, err = above.Write(p)
	})
	if closed != nil {
		return false, closed
	}
	return !b.hasRest(), err
}

func (b *beneath) hasRest() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rest) > 0
}

func (b *beneath) setPutTo(fd int) {
	b.mu.Lock()
	b.putTo = fd
	b.mu.Unlock()
}

func (b *beneath) Write(p []byte) (int, error) {
	if put, err := b.tryPut(p); put || err != nil {
		return len(p), err
	}
	b.order.Lock()
	defer b.order.Unlock()
	if err := b.writeKept(); err != nil {
		return 0, err
	}
	return b.writeAll(p)
}

// SetWriteDeadline is the connection's.
func (b *beneath) SetWriteDeadline(t time.Time) error {
	b.progress.Store(0)
	return b.TCPConn.SetWriteDeadline(t)
}

// noticeable is how long a write of a record takes that had to wait for the peer.
const noticeable = time.Millisecond

// writeAll writes p and waits for that. The writes of a link go on past a deadline before
// which the peer has taken anything: for crypto/tls the error of a write is final.
func (b *beneath) writeAll(p []byte) (n int, err error) {
	for {
		var taken int
		began := time.Now()
		taken, err = b.TCPConn.Write(p[n:])
		n += taken
		b.progress.Add(int64(taken))
		if b.note != nil && taken > 0 && time.Since(began) > noticeable {
			b.note()
		}
		if err == nil || b.note == nil || !errors.Is(err, os.ErrDeadlineExceeded) || b.progress.Load() == 0 {
			return n, err
		}
		if err := b.SetWriteDeadline(time.Now().Add(writeStallTimeout)); err != nil {
			return n, err
		}
	}
}

// tryPut writes what the connection takes of p, and keeps the others, if this write may
// not wait.
func (b *beneath) tryPut(p []byte) (put bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.putTo == 0 {
		return false, nil
	}
	n := 0
	if len(b.rest) == 0 {
		if n, err = write(b.putTo, p); err == syscall.EAGAIN {
			n, err = 0, nil
		}
	}
	if err != nil {
		return false, &net.OpError{Op: "write", Net: "tcp", Source: b.LocalAddr(), Addr: b.RemoteAddr(), Err: os.NewSyscallError("write", err)}
	}
	b.rest = append(b.rest, p[n:]...)
	return true, nil
}

// writeRest writes what put has kept, and waits for that.
func (b *beneath) writeRest() error {
	b.order.Lock()
	defer b.order.Unlock()
	return b.writeKept()
}

func (b *beneath) writeKept() error {
	b.mu.Lock()
	rest := b.rest
	b.rest = nil
	b.mu.Unlock()
	if len(rest) == 0 {
		return nil
	}
	_, err := b.writeAll(rest)
	return err
}

// smallBatch is how many bytes it is worth to copy into one record of TLS.
const smallBatch = 8 << 10

// coalesced returns a small batch as one buffer, which becomes one record, and others as
// they are.
func coalesced(out net.Buffers) net.Buffers {
	n := 0
	for _, p := range out {
		n += len(p)
	}
	if len(out) < 2 || n > smallBatch {
		return out
	}
	return net.Buffers{bytes.Join(out, nil)}
}
