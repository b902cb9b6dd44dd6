package rpc

import (
	"time"

	"google.golang.org/grpc/keepalive"

	"github.com/gorge-tf/gorge/internal/link"
)

// A Keepalive says when a peer is taken for gone, see [link.Keepalive]. What is 0
// is as [DefaultKeepalive] has it.
type Keepalive = link.Keepalive

// DefaultKeepalive lets a peer be silent for fifteen seconds.
var DefaultKeepalive = Keepalive{Time: 5 * time.Second, Timeout: 10 * time.Second}

// ErrSilent is in the errors of calls whose peer did not answer. There is no use
// in making them again at once.
var ErrSilent = link.ErrSilent

func orDefault(k Keepalive) Keepalive {
	if k.Time == 0 {
		k.Time = DefaultKeepalive.Time
	}
	if k.Timeout <= 0 {
		k.Timeout = DefaultKeepalive.Timeout
	}
	return k
}

const (
	// clientPing is how often clients ping by gRPC's own means: TensorFlow's
	// servers hang up on clients that do so more often than every five minutes. A
	// [watch] is faster.
	clientPing = 5*time.Minute + 30*time.Second
	// minPing is how often clients may do so here.
	minPing = time.Second
	// never is for what is switched off.
	never = 1 << 62
)

// serverPings is how a gRPC server notices that a client is gone. No client minds.
func serverPings(k Keepalive) keepalive.ServerParameters {
	k = orDefault(k)
	if k.Time < 0 {
		k.Time = never
	}
	return keepalive.ServerParameters{Time: k.Time, Timeout: k.Timeout}
}
