package verbs

import "errors"

// recvID is the number of all posted receives, the others count work requests
// from 0.
const recvID = 1 << 63

// A work is a work request and what is to be done at its end, when the device
// does not use its memory any more. Nobody holds the channel's lock then.
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
type sendQueue struct {
	qp      QueuePair
	free    int    // requests that the queue pair has room for
	next    uint64 // number of the next request
	posted  []work // in the order in which they complete
	waiting []work
}

// post sends w as soon as there is room.
func (q *sendQueue) post(w work) error {
	q.waiting = append(q.waiting, w)
	return q.advance()
}

func (q *sendQueue) advance() error {
	for q.free > 0 && len(q.waiting) > 0 {
		w := q.waiting[0]
		w.wr.ID = q.next
		if err := q.qp.PostSend(w.wr); err != nil {
			return err
		}
		q.waiting[0] = work{}
		q.waiting = q.waiting[1:]
		q.posted = append(q.posted, w)
		q.next++
		q.free--
	}
	return nil
}

// complete takes out the request that has ended.
func (q *sendQueue) complete(id uint64) (work, error) {
	if len(q.posted) == 0 || q.posted[0].wr.ID != id {
		return work{}, errors.New("a request completes that was not the oldest one")
	}
	w := q.posted[0]
	q.posted[0] = work{}
	q.posted = q.posted[1:]
	q.free++
	return w, q.advance()
}

// drop takes out all requests, once the queue pair is no more.
func (q *sendQueue) drop() []work {
	all := append(q.posted, q.waiting...)
	q.posted, q.waiting = nil, nil
	return all
}
