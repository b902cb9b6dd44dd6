package rendezvous

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf/core"
)

// A call is one receive from another task under way. It is answered once: by
// the transport, by the end of its context, or by the end of the step. Who
// comes later is not heard.
type call struct {
	r        *Remote
	key      string
	done     Done
	ctx      context.Context // the receiver's, ended by the step too
	cancel   context.CancelFunc
	stop     func() bool // detaches the call from the step
	stopSelf func() bool // and from its own context
	answered atomic.Bool
}

// fetch receives key from the task of device src.
func (r *Remote) fetch(ctx context.Context, s *Session, key, src string, done Done) {
	task, _, ok := strings.Cut(src, "/device:")
	if !ok {
		done(nil, false, badKey(key))
		return
	}
	if s.Transport == nil {
		done(nil, false, core.Errorf(core.FailedPrecondition, "receiving from another task takes a transport, %s has none: key %s", s.Task, key))
		return
	}
	alloc := s.Alloc
	if alloc == nil {
		alloc = Allocate
	}
	c := &call{r: r, key: key, done: done}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.stop = context.AfterFunc(r.ended, c.cancel)
	c.stopSelf = context.AfterFunc(c.ctx, c.ended) // second: ended reads stop
	s.Transport.Recv(c.ctx, task, r.step, key, alloc, c.finish)
}

// ended answers a call whose transport has not done so in time. The transport
// keeps the memory that it may still write to.
func (c *call) ended() {
	if !c.answered.Swap(true) {
		c.stop()
		c.done(nil, false, c.why())
	}
}

// why returns the reason for the end of the call's context.
func (c *call) why() error {
	if c.r.ended.Err() != nil {
		return context.Cause(c.r.ended)
	}
	return &core.Error{Code: core.Canceled, Msg: "RecvFromRemoteAsync is cancelled.", Err: context.Cause(c.ctx), Derived: true}
}

// finish takes the transport's answer.
func (c *call) finish(res Result) {
	if c.answered.Swap(true) {
		release(res.Tensor)
		return
	}
	ended := c.ctx.Err() != nil
	c.stopSelf()
	c.stop()
	c.cancel()
	switch {
	case res.Err != nil && ended:
		c.done(nil, false, c.why())
	case res.Err != nil:
		c.done(nil, false, res.Err)
	case res.Tensor == nil && !res.Dead:
		c.done(nil, false, core.Errorf(core.Internal, "a transport must answer with a tensor, an error or a dead value, got none of them for key %s", c.key))
	default:
		t, err := c.r.local.transfer(c.key, res.Tensor, res.Dead)
		c.done(t, res.Dead && err == nil, err)
	}
}
