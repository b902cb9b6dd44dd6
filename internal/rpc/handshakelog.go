package rpc

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

// A handshakeLog logs failed TLS handshakes. gRPC's server does not report them, and the
// client often sees only a closed connection. Clients try
// again every second, so that what is the same is logged once in handshakeInterval.
type handshakeLog struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[string]time.Time // when, by host and error
}

const (
	handshakeInterval = time.Minute
	// maxHandshakes bounds what is remembered, since strangers can make it grow.
	maxHandshakes = 256
)

// newHandshakeLog returns a log of handshakes; nil, which logs none, without a logger.
func newHandshakeLog(log *slog.Logger) *handshakeLog {
	if log == nil {
		return nil
	}
	return &handshakeLog{log: log, told: map[string]time.Time{}}
}

// tell logs a handshake that has failed. Whoever only looks whether the port is open hangs
// up, which is no failure.
func (l *handshakeLog) tell(peer net.Addr, err error) {
	if l == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if l.isNew(peer, err) {
		l.log.Warn("a client could not connect: the TLS handshake failed", "peer", peer.String(), "error", err)
	}
}

func (l *handshakeLog) isNew(peer net.Addr, err error) bool {
	host, _, _ := net.SplitHostPort(peer.String())
	var op *net.OpError
	if errors.As(err, &op) { // whose text has the port
		err = op.Err
	}
	key, now := host+" "+err.Error(), time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.told[key]; ok && now.Sub(last) < handshakeInterval {
		return false
	}
	if len(l.told) >= maxHandshakes {
		clear(l.told)
	}
	l.told[key] = now
	return true
}
