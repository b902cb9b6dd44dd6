//go:build unix

package link

import (
	"bytes"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
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
type beneath struct {
	*net.TCPConn
	fd          int
	nonblocking bool
	woken       atomic.Bool // a poller has set a deadline that has passed, to wake the reader
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

// takes reports whether the connection takes n bytes more without waiting: its peer has
// everything else.
func (b *beneath) takes(raw syscall.RawConn, n int) bool {
	unsent := 1
	err := raw.Control(func(fd uintptr) { unsent = unsentBytes(int(fd)) })
	return err == nil && unsent == 0 && n <= smallBatch
}

// smallBatch is how many bytes every connection takes whose peer has everything else,
// and which it is worth to copy into one record of TLS.
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
