//go:build unix

package link

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

const canPoll = true

// wait reads what pollers have taken or, once something has come, from the
// connection.
func (r *frameReader) wait(b []byte) (n int, err error) {
	for busy := true; busy; {
		if n, busy, err = r.readOnce(b); busy {
			r.mu.Lock()   // until the poller has taken what there is
			r.mu.Unlock() //lint:ignore SA2001 only the wait matters
		}
	}
	return n, err
}

// readOnce is wait, but returns busy if a poller holds mu. It must not wait for
// mu there: closing a connection waits for the functions given to its raw Read,
// and the poller, which holds mu, may be what closes it.
func (r *frameReader) readOnce(b []byte) (n int, busy bool, err error) {
	var got error
	err = r.raw.Read(func(fd uintptr) bool {
		if busy = !r.mu.TryLock(); busy {
			return true
		}
		defer r.mu.Unlock()
		if len(r.buffered) > 0 {
			n = copy(b, r.buffered)
			r.buffered, got = r.buffered[n:], nil
			return true
		}
		n, got = r.take(int(fd), b)
		r.readerIdle = r.readerIdle && n == 0
		return got != syscall.EAGAIN
	})
	switch {
	case err != nil && r.below != nil && r.below.woken.Swap(false):
		return 0, true, r.nc.SetReadDeadline(time.Time{})
	case err != nil:
		return 0, false, err
	case busy:
		return 0, true, nil
	case got != nil && r.below != nil:
		return 0, false, got // as TLS says it
	case got != nil:
		return 0, false, &net.OpError{Op: "read", Net: "tcp", Source: r.nc.LocalAddr(), Addr: r.nc.RemoteAddr(), Err: os.NewSyscallError("read", got)}
	case n == 0:
		return 0, false, io.EOF
	}
	return n, false, nil
}

// readAvailable reads what is there and does not wait. The end of the connection, and
// errors, are left to wait.
func (r *frameReader) readAvailable(b []byte) (n int) {
	_ = r.raw.Control(func(fd uintptr) { // fails on a closed connection, as wait does
		n, _ = r.take(int(fd), b)
	})
	return n
}

// take reads what has come; EAGAIN: nothing. The holder of mu calls it.
func (r *frameReader) take(fd int, b []byte) (int, error) {
	if r.below != nil {
		return r.below.take(r.nc, fd, b)
	}
	return read(fd, b)
}

// wakeReader makes a reader that waits for the connection look at buffered and TLS.
func (r *frameReader) wakeReader() {
	r.below.woken.Store(true)
	r.nc.SetReadDeadline(time.Unix(1, 0)) // fails on a closed connection, as the reader's read does
}

// attach finds out how to read the connection without waiting.
func (r *frameReader) attach() {
	c, ok := r.nc.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return // there is no polling
	}
	if _, plain := r.nc.(*net.TCPConn); plain {
		r.raw = raw
	} else if b, ok := raw.(rawBeneath); ok {
		r.raw, r.below = raw, b.conn
		r.below.note = r.noteActivity
	}
}

// writeAvailable writes as much of out as the connection takes at once, and returns the
// rest.
func (c *conn) writeAvailable(out net.Buffers) net.Buffers {
	if c.raw != nil && c.below != nil {
		return c.writeSmall(out)
	}
	if c.raw == nil || len(out) > 1 {
		return out
	}
	n := 0
	err := c.raw.Write(func(fd uintptr) bool {
		n, _ = write(int(fd), out[0]) // an error comes again in write
		return true
	})
	switch {
	case err != nil || n <= 0:
		return out
	case n == len(out[0]):
		return nil
	}
	return net.Buffers{out[0][n:]}
}

// writeSmall writes a small batch through TLS. What the connection does not take at
// once lies beneath, and an empty buffer is returned for it. An error ends the
// connection after put has let go of it, since its end waits for that.
func (c *conn) writeSmall(out net.Buffers) net.Buffers {
	out = coalesced(out)
	if len(out) > 1 || len(out[0]) > smallBatch {
		return out
	}
	complete, err := c.below.put(c.nc, c.raw, out[0])
	if err != nil {
		c.end(err)
	}
	if complete || err != nil {
		return nil
	}
	return net.Buffers{nil}
}

// writeRest writes what writeSmall has left beneath.
func (c *conn) writeRest() error {
	if c.below == nil || !c.below.hasRest() {
		return nil
	}
	c.nc.SetWriteDeadline(time.Now().Add(writeStallTimeout)) // fails on a closed connection, as the write does
	return c.below.writeRest()
}
