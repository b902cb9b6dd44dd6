//go:build !unix

package link

import "net"

// Reading and writing without waiting is not implemented here.
const canPoll = false

// Beneath returns nc.
func Beneath(nc net.Conn) net.Conn { return nc }

type beneath struct{}

func (r *frameReader) attach() {}

func (r *frameReader) wakeReader() {}

func (r *frameReader) wait(b []byte) (int, error) { return r.nc.Read(b) }

func (r *frameReader) readAvailable([]byte) int { return 0 }

func (c *conn) writeRest() error { return nil }

func (c *conn) writeAvailable(out net.Buffers) net.Buffers { return out }
