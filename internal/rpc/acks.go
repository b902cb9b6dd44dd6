package rpc

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/pb"
)

// ackTimeout bounds a call whose failure only costs the peer some memory until
// the step is cleaned up.
const ackTimeout = 10 * time.Second

// acks are the calls that tell a channel's server that answers have arrived. The
// receivers do not wait for them; Close of the channel, which ends them, does.
type acks struct {
	mu     sync.Mutex // guards closed, and the count of calls from growing after it
	closed bool
	calls  sync.WaitGroup
}

// start calls f on a goroutine, unless the channel is closed.
func (a *acks) start(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.calls.Go(f)
	}
}

// close waits for the calls under way, which end because their channel has.
func (a *acks) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.calls.Wait()
}

// acknowledge tells the sender that its answer has arrived, also when the receiver's
// step is over by now. It waits for the sender only if there is no channel to see to
// the call.
func (c *WorkerClient) acknowledge(ctx context.Context, request int64) {
	ch, ok := c.cc.(*Channel)
	if !ok {
		c.markReceived(ctx, request)
		return
	}
	ch.acks.start(func() { c.markReceived(ctx, request) })
}

func (c *WorkerClient) markReceived(ctx context.Context, request int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	_, _ = c.MarkRecvFinished(ctx, &pb.MarkRecvFinishedRequest{RequestId: request})
}
