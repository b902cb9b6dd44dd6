package rendezvous

import "github.com/gorge-tf/gorge/tf/core"

// An item is a value under a key, or, with done set, a receiver that waits.
type item struct {
	next *item
	t    *core.Tensor
	dead bool
	done Done
	stop func() bool // detaches the waiter from its context, nil without one
}

// A queue holds either values or receivers, first come first served.
type queue struct{ head, tail *item }

func (q queue) waiting() bool { return q.head != nil && q.head.done != nil }

// fail answers all waiters and drops all values.
func (q queue) fail(err error) {
	for it := q.head; it != nil; it = it.next {
		if it.done == nil {
			release(it.t)
			continue
		}
		if it.stop != nil {
			it.stop()
		}
		it.done(nil, false, err)
	}
}

// push appends v to the queue of key. The caller holds the lock.
func (l *Local) push(key string, v item) *item {
	it := l.free
	if it == nil {
		it = new(item)
	} else {
		l.free = it.next
	}
	*it = v
	q := l.table[key]
	if q.head == nil {
		q.head = it
	} else {
		q.tail.next = it
	}
	q.tail = it
	l.table[key] = q
	return it
}

// pop returns what the head of the queue of key holds. A queue that becomes
// empty is dropped: loops use a key of their own in each iteration. The caller
// holds the lock.
func (l *Local) pop(key string, q queue) item {
	it := q.head
	v := *it
	if q.head = it.next; q.head == nil {
		delete(l.table, key)
	} else {
		l.table[key] = q
	}
	l.recycle(it)
	v.next = nil
	return v
}

// recycle keeps an item for the next push. One that a context knows is left
// to the garbage collector: its cancellation may still come and look for it.
func (l *Local) recycle(it *item) {
	if it.stop != nil {
		return
	}
	*it = item{next: l.free}
	l.free = it
}

// remove takes the waiter w out of the queue of key and reports whether it was
// there. The caller holds the lock.
func (l *Local) remove(key string, w *item) bool {
	q := l.table[key]
	for prev, it := (*item)(nil), q.head; it != nil; prev, it = it, it.next {
		if it == w {
			l.unlink(key, q, prev, w)
			return true
		}
	}
	return false
}

func (l *Local) unlink(key string, q queue, prev, w *item) {
	if prev == nil {
		q.head = w.next
	} else {
		prev.next = w.next
	}
	if q.tail == w {
		q.tail = prev
	}
	if q.head == nil {
		delete(l.table, key)
		return
	}
	l.table[key] = q
}
