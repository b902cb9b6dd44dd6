package verbs

import "errors"

// recvID is in the numbers of posted receives, which count from it; the others
// count work requests from 0.
const recvID = 1 << 63

// A work is a work request and what is to be done at its end, when the device
// does not use its memory any more. It is called without the channel's lock.
type work struct {
	wr  SendWR
	end func()
}

func (w *work) finish() {
	if w.end != nil {
		w.end()
	}
}

// A sendQueue keeps what a queue pair has no room for at the moment. The
// channel's lock guards it.
//
// Requests are unsignaled (Quiet) where nothing waits for their end: they have no
// completion of their own and end with the next signaled one, since requests of a
// queue pair complete in order. A queue full of unsignaled requests would never
// empty, so number makes every maxUnsignaled-th of them, a quarter of the queue,
// signaled.
//
// Invariant: free + len(posted) is the depth of the queue pair.
type sendQueue struct {
	qp            QueuePair
	free          int    // requests that the queue pair has room for
	next          uint64 // number of the next request
	unsignaled    int    // requests since the last one with a completion
	maxUnsignaled int    // bound of unsignaled
	signaled      int    // requests under way that have a completion
	ends          uint64 // completions so far
	corked        bool   // requests wait for uncork, to be posted in one call
	posted        []work // in the order in which they complete
	waiting       []work
	batch         []SendWR // scratch of advance
	ended         []work   // scratch of complete
	stats         *counters
}

func newSendQueue(qp QueuePair, depth int, stats *counters) sendQueue {
	return sendQueue{qp: qp, free: depth, maxUnsignaled: depth / 4, stats: stats}
}

// post sends w as soon as there is room.
func (q *sendQueue) post(w work) error {
	q.waiting = append(q.waiting, w)
	if q.corked {
		return nil
	}
	return q.advance()
}

// uncork posts what was held back.
func (q *sendQueue) uncork() error {
	q.corked = false
	return q.advance()
}

// advance posts as much as there is room for, all at once.
func (q *sendQueue) advance() error {
	n := min(q.free, len(q.waiting))
	if len(q.waiting) > n {
		q.stats.waits.Add(1)
	}
	if n == 0 {
		return nil
	}
	q.batch = q.batch[:0]
	for i := range n {
		q.number(&q.waiting[i].wr)
		if !q.waiting[i].wr.Quiet {
			q.signaled++
		}
		q.batch = append(q.batch, q.waiting[i].wr)
	}
	q.posted = append(q.posted, q.waiting[:n]...)
	clear(q.waiting[:n])
	q.waiting = q.waiting[n:]
	q.free -= n
	q.stats.posted(q.batch)
	return q.qp.PostSend(q.batch...)
}

// number gives a request its number, and a completion if none was asked for
// too long.
func (q *sendQueue) number(wr *SendWR) {
	wr.ID = q.next
	q.next++
	if q.unsignaled++; !wr.Quiet || q.unsignaled >= q.maxUnsignaled {
		wr.Quiet, q.unsignaled = false, 0
	}
}

var errOrder = errors.New("a request completes that was not the oldest one")

// complete takes out the request that has ended, and quiet ones before it. The
// result is valid until the next call.
func (q *sendQueue) complete(id uint64) ([]work, error) {
	q.ended = q.ended[:0]
	if len(q.posted) == 0 || id-q.posted[0].wr.ID >= uint64(len(q.posted)) {
		return nil, errOrder
	}
	n := int(id-q.posted[0].wr.ID) + 1
	for _, w := range q.posted[:n-1] {
		if !w.wr.Quiet {
			return nil, errOrder
		}
	}
	if !q.posted[n-1].wr.Quiet {
		q.signaled--
	}
	q.ends++
	q.ended = append(q.ended, q.posted[:n]...)
	clear(q.posted[:n])
	q.posted = q.posted[n:]
	q.free += n
	if q.corked {
		return q.ended, nil
	}
	return q.ended, q.advance()
}

// drop takes out all requests, once the queue pair is no more.
func (q *sendQueue) drop() []work {
	all := append(q.posted, q.waiting...)
	q.posted, q.waiting = nil, nil
	return all
}
