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

	// What runs alone waits until nothing runs beside others; what comes meanwhile waits for
	// it. So it waits no longer than the batches take that run already.
	changed sync.Cond // one of the following is smaller
	running int       // batches that run beside others
	lonely  int       // batches that run alone, or wait to
	single  bool      // one runs alone
}

// NewThreads returns n threads; 0: one for each CPU.
func NewThreads(n int) *Threads {
	t := &Threads{free: Params{Threads: n}.withDefaults().Threads}
	t.changed.L = &t.mu
	return t
}

// beside calls f, which runs a batch, while others may run. It reports whether others have
// run.
func (t *Threads) beside(f func() error) (others bool, err error) {
	t.mu.Lock()
	for t.lonely > 0 {
		t.changed.Wait()
	}
	t.running++
	others = t.running > 1
	t.mu.Unlock()
	err = f()
	t.mu.Lock()
	defer t.mu.Unlock()
	others = others || t.running > 1
	t.running--
	t.changed.Broadcast()
	return others, err
}

// alone calls f, which runs a batch, while no other one runs.
func (t *Threads) alone(f func() error) error {
	t.mu.Lock()
	t.lonely++
	for t.running > 0 || t.single {
		t.changed.Wait()
	}
	t.single = true
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.single = false
		t.lonely--
		t.mu.Unlock()
		t.changed.Broadcast()
	}()
	return f()
}

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
