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

// A door counts connections. Some that are too many are let in for a moment, to hear
// why they must leave; beyond those connections are closed at once.
type door struct {
	limit int // 0: none
	open  atomic.Int64
}

const (
	// spare is how many connections beyond the limit are told why.
	spare = 16
	// farewell is how long they may stay.
	farewell = time.Second
	// greeting bounds the handshake of a connection.
	greeting = 20 * time.Second
)

// enter counts a connection, which ends with leave unless it is turned away.
func (d *door) enter() (crowded bool, err error) {
	n := int(d.open.Add(1))
	if d.limit <= 0 || n <= d.limit {
		return false, nil
	}
	if n > d.limit+spare {
		d.open.Add(-1)
		return true, d.full()
	}
	return true, nil
}

func (d *door) leave() { d.open.Add(-1) }

func (d *door) full() error {
	return status.Errorf(codes.ResourceExhausted, "this server takes no more than %d connections (the limit of connections)", d.limit)
}

// crowded marks a connection that is one too many.
type crowded struct {
	credentials.AuthInfo
	d *door
}

// GetCommonAuthInfo says how secure the connection is.
func (c crowded) GetCommonAuthInfo() credentials.CommonAuthInfo {
	if i, ok := c.AuthInfo.(interface {
		GetCommonAuthInfo() credentials.CommonAuthInfo
	}); ok {
		return i.GetCommonAuthInfo()
	}
	return credentials.CommonAuthInfo{}
}

// tell refuses all calls of connections that are too many.
func tell(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(crowded); ok {
			return nil, c.d.full()
		}
	}
	return ctx, nil
}

// guest is a connection that is counted. Some of its bytes may have been read.
type guest struct {
	net.Conn
	first []byte
	once  sync.Once
	left  func()
}

// Read reads the bytes again, then from the connection.
func (g *guest) Read(b []byte) (int, error) {
	if len(g.first) > 0 {
		n := copy(b, g.first)
		g.first = g.first[n:]
		return n, nil
	}
	return g.Conn.Read(b)
}

// Close closes the connection.
func (g *guest) Close() error {
	g.once.Do(g.left)
	return g.Conn.Close()
}
