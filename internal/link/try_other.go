//go:build !unix

package link

import "net"

// try writes nothing: there is no writing without waiting here.
func (c *conn) try(out net.Buffers) net.Buffers { return out }
