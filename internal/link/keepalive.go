package link

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Keepalive says when an end of a link takes its peer for gone. What a peer
// computes does not matter: its connection answers.
type Keepalive struct {
	Time    time.Duration // of silence after which the peer is asked whether it is there; not positive: it never is
	Timeout time.Duration // that it has to say something then
}

// ErrSilent is in the errors of calls that have ended because the peer did not
// answer.
var ErrSilent = errors.New("the peer does not answer")

// Silent returns the error about a peer that has said nothing for so long.
func Silent(peer string, d time.Duration) error { return &silence{peer, d} }

type silence struct {
	peer string
	d    time.Duration
}

func (s *silence) Error() string {
	return fmt.Sprintf("%s has not answered for %v", s.peer, s.d.Round(time.Millisecond))
}

// Is makes it an ErrSilent.
func (s *silence) Is(target error) bool { return target == ErrSilent }

// GRPCStatus makes it an error of gRPC.
func (s *silence) GRPCStatus() *status.Status { return status.New(codes.Unavailable, s.Error()) }

// ended is what calls on a link that has ended get.
type ended struct{ why error }

func errEnded(why error) error { return ended{why} }

func (e ended) Error() string { return fmt.Sprintf("the link has ended: %v", e.why) }

func (e ended) Unwrap() error { return e.why }

// GRPCStatus makes it an error of gRPC.
func (e ended) GRPCStatus() *status.Status { return status.New(codes.Unavailable, e.Error()) }

// startKeepalive begins to check whether the peer is there.
func (c *conn) startKeepalive(k Keepalive) {
	if k.Time <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.keepaliveTimer = time.AfterFunc(k.Time, func() { c.checkKeepalive(k) })
	}
}

// checkKeepalive asks a silent peer, once for each silence, and ends the link with one
// that has not answered in time. Only keepaliveTimer calls it, not twice at once.
func (c *conn) checkKeepalive(k Keepalive) {
	heard := c.lastActivity.Load()
	quiet := c.age() - time.Duration(heard)
	next := k.Time - quiet
	switch {
	case quiet >= k.Time+k.Timeout:
		c.end(Silent(c.nc.RemoteAddr().String(), quiet))
		return
	case quiet >= k.Time:
		next += k.Timeout
		if c.pingedAt != heard {
			c.pingedAt = heard
			_ = c.send(newFrame(kindPing, 0, nil, nil), false) // a link that has ended needs none
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.keepaliveTimer.Reset(next)
	}
}

// stopKeepalive ends that; c.mu is held.
func (c *conn) stopKeepalive() {
	if c.keepaliveTimer != nil {
		c.keepaliveTimer.Stop()
	}
}
