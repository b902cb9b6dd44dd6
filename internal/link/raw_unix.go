//go:build unix

package link

import (
	"io"
	"net"
	"os"
	"syscall"
)

const canLook = true

// wait reads what has been taken in or, once there is something, from the
// connection.
func (e *ear) wait(b []byte) (n int, err error) {
	for busy := true; busy; {
		if n, busy, err = e.listen(b); busy {
			e.mu.Lock()   // until the caller that looks has taken in what there is
			e.mu.Unlock() //lint:ignore SA2001 only the wait matters
		}
	}
	return n, err
}

// listen is wait, unless a caller looks. It does not wait for him then: to close the
// connection is to wait for those who read from it, and he may have to do with who
// closes it.
func (e *ear) listen(b []byte) (n int, busy bool, err error) {
	var got error
	err = e.raw.Read(func(fd uintptr) bool {
		if busy = !e.mu.TryLock(); busy {
			return true
		}
		defer e.mu.Unlock()
		if len(e.ahead) > 0 {
			n = copy(b, e.ahead)
			e.ahead, got = e.ahead[n:], nil
			return true
		}
		n, got = read(int(fd), b)
		e.rest = e.rest && n == 0
		return got != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, false, err
	case busy:
		return 0, true, nil
	case got != nil:
		return 0, false, &net.OpError{Op: "read", Net: "tcp", Source: e.nc.LocalAddr(), Addr: e.nc.RemoteAddr(), Err: os.NewSyscallError("read", got)}
	case n == 0:
		return 0, false, io.EOF
	}
	return n, false, nil
}

// glance reads what is there and does not wait. The end of the connection, and
// errors, are left to wait.
func (e *ear) glance(b []byte) (n int) {
	_ = e.raw.Control(func(fd uintptr) { // fails on a closed connection, as wait does
		n, _ = read(int(fd), b)
	})
	return n
}

// try writes as much of out as the connection takes at once, and returns the
// rest.
func (c *conn) try(out net.Buffers) net.Buffers {
	if c.raw == nil || len(out) > 1 {
		return out
	}
	n := 0
	err := c.raw.Write(func(fd uintptr) bool {
		n, _ = write(int(fd), out[0]) // what went wrong, write meets again
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
