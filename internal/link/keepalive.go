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

// A Silence decides what to do about a peer that says nothing. Times are ages of what
// the peer is watched for. It is used by one goroutine at a time.
type Silence struct {
	heard time.Duration // when the peer had said the last thing before it was asked
	asked time.Duration // when that was; 0: it was not
	due   time.Duration // when Look was to be called
}

// Look says what to do now about a peer that was heard last at a time: to ask it, to
// take it for gone, or neither; and after which time to look again.
//
// A peer is gone when it has not answered for k.Timeout after it was asked, however long
// it has been silent. A process that has been held, or got no processor, has heard
// nothing itself: if it looks late it asks again.
func (s *Silence) Look(k Keepalive, now, heard time.Duration) (ask, gone bool, again time.Duration) {
	late := s.due > 0 && now-s.due > k.Timeout/4
	switch {
	case now-heard < k.Time:
		again = k.Time - (now - heard)
	case s.asked == 0 || s.heard != heard || late:
		s.heard, s.asked = heard, max(now, 1)
		ask, again = true, k.Timeout
	case now-s.asked >= k.Timeout:
		gone, again = true, k.Time
	default:
		again = k.Timeout - (now - s.asked)
	}
	s.due = now + again
	return ask, gone, again
}

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
	c.patience = k.Time
	if c.err == nil {
		c.keepaliveTimer = time.AfterFunc(k.Time, func() { c.checkKeepalive(k) })
	}
}

// checkKeepalive asks a silent peer, and ends the link with one that has not answered
// in time. Only keepaliveTimer calls it, not twice at once.
func (c *conn) checkKeepalive(k Keepalive) {
	heard := time.Duration(c.lastActivity.Load())
	ask, gone, next := c.silence.Look(k, c.age(), heard)
	if gone {
		c.end(Silent(c.nc.RemoteAddr().String(), c.age()-heard))
		return
	}
	if ask {
		_ = c.send(newFrame(kindPing, 0, nil, nil), false) // a link that has ended needs none
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
