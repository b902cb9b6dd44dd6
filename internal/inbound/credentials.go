package inbound

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// Credentials returns c such that a gRPC server counts the unfinished messages of its
// connections. Its streams should have windows of [Window] bytes.
func Credentials(c credentials.TransportCredentials) credentials.TransportCredentials {
	return counting{c}
}

type counting struct {
	credentials.TransportCredentials
}

// ServerHandshake shakes hands as the credentials do.
func (c counting) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	nc, auth, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nc, auth, err
	}
	return NewConn(nc), auth, nil
}

// Clone copies the credentials.
func (c counting) Clone() credentials.TransportCredentials {
	return counting{c.TransportCredentials.Clone()}
}
