package verbs

import "github.com/gorge-tf/gorge/tf/core"

// What lies in memory that the device does not know, and that is not worth
// registering, is copied to memory that it does. A channel has a bounded amount of
// copies under way; what finds no room waits until others have been written. What
// is longer than that goes in pieces.
//
// The channel's lock guards a staging. One goroutine at a time copies (busy), so
// that pieces are posted in order; it does so without the lock.
//
// Invariant: used is the bytes of the copies that are posted or about to be.
type staging struct {
	limit   int
	used    int
	busy    bool
	waiting []*staged
}

// A staged content is copied from off on.
type staged struct {
	r   *response
	v   *content
	off int
}

// piece is how much of x is copied at once: half of the limit at most, so that one
// piece is copied while another one is written.
func (q *staging) piece(x *staged, maxMessage int) int {
	n := x.v.meta.bytes - x.off
	if n > q.limit {
		n = max(q.limit/2, 1)
	}
	return min(n, maxMessage, maxPiece)
}

// stage writes a content by way of copies.
func (c *Channel) stage(r *response, v *content) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		v.release()
		return
	}
	q := &c.staging
	if q.used > 0 && q.used+v.meta.bytes > q.limit || len(q.waiting) > 0 {
		c.stats.ringWaits.Add(1)
	}
	c.stats.stage(v.meta.bytes)
	q.waiting = append(q.waiting, &staged{r: r, v: v})
	c.mu.Unlock()
	c.copyStaged()
}

// copyStaged copies what there is room for.
func (c *Channel) copyStaged() {
	for {
		x, n := c.nextStaged()
		if x == nil {
			return
		}
		s, err := c.adapter.room(n)
		if err == nil {
			copy(s.bytes(), x.v.bytes()[x.off:])
		}
		c.postStaged(x, s, n, err)
	}
}

// nextStaged returns a content and how many bytes of it are copied next; nil if there is
// none, no room, or another goroutine that copies and will take it up.
func (c *Channel) nextStaged() (x *staged, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.staging
	if q.busy || c.err != nil || len(q.waiting) == 0 {
		return nil, 0
	}
	x = q.waiting[0]
	n = q.piece(x, c.adapter.dev.Attributes().MaxMessage)
	if q.used > 0 && q.used+n > q.limit {
		return nil, 0
	}
	q.busy = true
	q.used += n
	return x, n
}

// postStaged posts the copy s of n bytes. The peer hears of the last one.
func (c *Channel) postStaged(x *staged, s segment, n int, err error) {
	c.mu.Lock()
	q := &c.staging
	q.busy = false
	last := x.off+n == x.v.meta.bytes
	if (last || err != nil || c.err != nil) && len(q.waiting) > 0 {
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
	}
	if err != nil || c.err != nil {
		q.used -= n
		over := c.err != nil
		c.mu.Unlock()
		c.release(&s)
		x.v.release()
		if !over {
			c.refuse(x.r, core.AsError(err))
		}
		return
	}
	wr := SendWR{Op: OpWrite, Local: s.sge(0, n), RemoteAddr: x.r.addr + uint64(x.off), RKey: x.r.rkey}
	w := work{wr: wr, end: func() { c.unstage(&s, n) }}
	x.off += n
	if !last {
		c.post(w)
		c.mu.Unlock()
		return
	}
	delete(c.responses, x.r.index)
	w.wr.Op, w.wr.Imm = OpWriteImm, x.r.index
	c.postContent(w)
	c.mu.Unlock()
	x.v.release()
}

// unstage gives back a copy that has been written, and copies what waits for its
// room.
func (c *Channel) unstage(s *segment, n int) {
	c.release(s)
	c.mu.Lock()
	c.staging.used -= n
	c.mu.Unlock()
	c.copyStaged()
}

// drop takes out all that waits, once the queue pair is no more. What is being
// copied is released by the goroutine that copies.
func (q *staging) drop() []*staged {
	all := q.waiting
	if q.busy {
		all = all[1:]
	}
	q.waiting = nil
	return all
}
