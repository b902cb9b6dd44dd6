//go:build unix

package link

import (
	"net"
	"syscall"
)

// try writes as much of out as the connection takes at once, and returns the
// rest.
func (c *conn) try(out net.Buffers) net.Buffers {
	tcp, ok := c.nc.(*net.TCPConn) // what lies over one, as TLS, has to write itself
	if !ok || len(out) > 1 {
		return out
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return out
	}
	n := 0
	err = raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), out[0]) // what went wrong, write meets again
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
