package batch

import "sync"

// Threads bound how many batches run at once, of all queues that share them. Queues
// get threads in turn, one batch each, so that a model with many requests does not
// keep others waiting for longer than one batch of each. All methods may be called
// from any goroutine.
//
// They are numbers, not goroutines: queues run their batches on goroutines of their
// own.
type Threads struct {
	mu   sync.Mutex // behind those of queues
	free int
	line []*Queue // that wait, each once, the first one first; none waits while threads are free
}

// NewThreads returns n threads; 0: one for each CPU.
func NewThreads(n int) *Threads { return &Threads{free: Params{Threads: n}.withDefaults().Threads} }

// take takes a thread for q. If none is free, q waits in line: its method use is called
// when its turn comes.
func (t *Threads) take(q *Queue) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return true
	}
	for _, w := range t.line {
		if w == q {
			return false
		}
	}
	t.line = append(t.line, q)
	return false
}

// wanted reports whether a queue waits for a thread.
func (t *Threads) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.line) > 0
}

// give gives a thread to the first queue in line that has work. The caller holds the
// mutex of no queue.
func (t *Threads) give() {
	for {
		q := t.next()
		if q == nil || q.use() {
			return
		}
	}
}

// next returns the first queue in line, which has the thread then. Without one the
// thread is free.
func (t *Threads) next() *Queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) == 0 {
		t.free++
		return nil
	}
	q := t.line[0]
	t.line = append(t.line[:0], t.line[1:]...)
	return q
}
