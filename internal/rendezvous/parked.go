package rendezvous

import (
	"context"
	"slices"
)

// A parked receive came from another task before the step had a session.
type parked struct {
	ctx  context.Context
	key  string
	done Done
	stop func() bool
}

// park keeps a receive for Initialize, and reports whether it had to.
func (r *Remote) park(ctx context.Context, key string, done Done) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil || r.err != nil {
		return false
	}
	p := &parked{ctx: ctx, key: key, done: done}
	p.stop = context.AfterFunc(ctx, func() {
		if r.unpark(p) {
			done(nil, false, cancelled(ctx))
		}
	})
	r.parked = append(r.parked, p)
	return true
}

// unpark reports whether p was still parked; it is not any more.
func (r *Remote) unpark(p *parked) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.parked, p)
	if i < 0 {
		return false
	}
	r.parked = slices.Delete(r.parked, i, i+1)
	return true
}

// idle reports whether the step has not been used yet and nothing waits for it.
func (r *Remote) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session == nil && len(r.parked) == 0
}
