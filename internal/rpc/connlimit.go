package rpc

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// Limits bound what the peers of a server may take; 0: there is no bound.
type Limits struct {
	Connections int    // gRPC's and links
	Streams     uint32 // calls under way on one connection
	Queued      int64  // bytes of replies that one link's peer has not taken
}

// A connLimiter counts connections. Up to refusableConns beyond the limit are
// accepted for refusalTimeout, so that their calls are answered with the reason;
// further ones are closed at once.
type connLimiter struct {
	limit int // 0: none
	open  atomic.Int64
}

const (
	// refusableConns is how many connections beyond the limit are told why.
	refusableConns = 16
	// refusalTimeout is how long they may stay.
	refusalTimeout = time.Second
	// handshakeTimeout bounds the handshake of a connection.
	handshakeTimeout = 20 * time.Second
)

// acquire counts a connection, which ends with release unless there is an error.
func (d *connLimiter) acquire() (over bool, err error) {
	n := int(d.open.Add(1))
	if d.limit <= 0 || n <= d.limit {
		return false, nil
	}
	if n > d.limit+refusableConns {
		d.open.Add(-1)
		return true, d.errLimit()
	}
	return true, nil
}

func (d *connLimiter) release() { d.open.Add(-1) }

func (d *connLimiter) errLimit() error {
	return status.Errorf(codes.ResourceExhausted, "this server takes no more than %d connections (the limit of connections)", d.limit)
}

// refusedConn is the auth info of a connection beyond the limit.
type refusedConn struct {
	credentials.AuthInfo
	limiter *connLimiter
}

// GetCommonAuthInfo says how secure the connection is.
func (c refusedConn) GetCommonAuthInfo() credentials.CommonAuthInfo {
	if i, ok := c.AuthInfo.(interface {
		GetCommonAuthInfo() credentials.CommonAuthInfo
	}); ok {
		return i.GetCommonAuthInfo()
	}
	return credentials.CommonAuthInfo{}
}

// refuseCalls refuses all calls of connections that are too many.
func refuseCalls(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(refusedConn); ok {
			return nil, c.limiter.errLimit()
		}
	}
	return ctx, nil
}

// countedConn is a connection that a connLimiter counts until it is closed. Its
// first bytes may have been read to tell links from gRPC; Read returns them again.
type countedConn struct {
	net.Conn
	first   []byte
	once    sync.Once
	release func()
}

// Read reads the bytes again, then from the connection.
func (g *countedConn) Read(b []byte) (int, error) {
	if len(g.first) > 0 {
		n := copy(b, g.first)
		g.first = g.first[n:]
		return n, nil
	}
	return g.Conn.Read(b)
}

// Close closes the connection.
func (g *countedConn) Close() error {
	g.once.Do(g.release)
	return g.Conn.Close()
}
