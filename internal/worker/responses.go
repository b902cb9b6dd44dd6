package worker

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// responses keeps what other tasks have received, tensors and buffers, until they
// say that it has arrived. A value can be taken once only, so without this an
// answer that is lost on its way ends the step.
type responses struct {
	mu      sync.Mutex
	all     map[int64]*response // by request
	closed  bool
	pending sync.WaitGroup // those that are to come
}

// A response is the answer to a request, there or to come.
type response struct {
	step  int64
	ready chan struct{} // closed when v or err is set
	v     Received
	err   error

	dropped bool // it will not be asked for again; guarded by responses.mu
}

// find returns the answer to a request, which answer gives to a new one. There is
// none to a request that begin refuses, nor after close: nil.
func (c *responses) find(request, step int64, begin func() error, answer func() (Received, error)) (*response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.all[request]; r != nil || c.closed {
		return r, nil
	}
	if err := begin(); err != nil {
		return nil, err
	}
	if c.all == nil {
		c.all = map[int64]*response{}
	}
	r := &response{step: step, ready: make(chan struct{})}
	c.all[request] = r
	c.pending.Go(func() {
		var v Received
		err := core.Guard("what fetches an answer", func() (err error) {
			v, err = answer()
			return err
		})
		c.answer(r, v, err)
	})
	return r, nil
}

// close waits for answers that are to come, which must not take long any more,
// and forgets all.
func (c *responses) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.pending.Wait()
	c.drop(func(int64, *response) bool { return true })
}

// answer gives r its value.
func (c *responses) answer(r *response, v Received, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.v, r.err = v, err
	r.v.RequireAck = err == nil
	close(r.ready)
	if r.dropped {
		r.release()
	}
}

// wait returns a reference to the answer, when it is there.
func (c *responses) wait(ctx context.Context, r *response) (Received, error) {
	select {
	case <-r.ready:
	case <-ctx.Done():
		return Received{}, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.dropped && r.err == nil {
		return Received{}, core.Errorf(core.Aborted, "Cleanup %d", r.step)
	}
	v := r.v
	if v.Tensor != nil {
		v.Tensor = v.Tensor.Share()
	}
	return v, r.err
}

// release gives up the value. The caller holds mu.
func (r *response) release() {
	if r.v.Tensor != nil {
		r.v.Tensor.Release()
		r.v.Tensor = nil
	}
}

// drop forgets the answers that which describes.
func (c *responses) drop(which func(request int64, r *response) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.all {
		if which(id, r) {
			delete(c.all, id)
			r.dropped = true
			r.release()
		}
	}
}

// acknowledged forgets one answer.
func (c *responses) acknowledged(request int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.all[request]; r != nil {
		delete(c.all, request)
		r.dropped = true
		r.release()
	}
}
