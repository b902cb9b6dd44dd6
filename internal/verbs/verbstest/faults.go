package verbstest

import (
	"bytes"
	"sync"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A Faulty is a device whose queue pairs hold requests back or fail when they
// are told to.
type Faulty struct {
	verbs.Device

	mu    sync.Mutex
	match func(verbs.SendWR) bool
	pairs map[*faultyPair]bool
	held  sync.Cond // signals that a request is held
	lose  func(verbs.Completion) bool
	count int
}

// Wrap returns dev with faults that can be switched on.
func Wrap(dev verbs.Device) *Faulty {
	f := &Faulty{Device: dev, pairs: map[*faultyPair]bool{}}
	f.held.L = &f.mu
	return f
}

// Hold holds requests that match back, and all that come after one of them on
// the same queue pair.
func (f *Faulty) Hold(match func(verbs.SendWR) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.match = match
}

// AwaitHeld waits until n requests have been held in all.
func (f *Faulty) AwaitHeld(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.count < n {
		f.held.Wait()
	}
}

// Release sends what is held, and holds nothing any more.
func (f *Faulty) Release() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.match = nil
	for q := range f.pairs {
		for _, wr := range q.held {
			if err := q.QueuePair.PostSend(wr); err != nil {
				return err
			}
		}
		q.held = nil
	}
	return nil
}

// Lose makes completions that match vanish.
func (f *Faulty) Lose(match func(verbs.Completion) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose = match
}

// CreateCQ returns a completion queue that loses what it is told to.
func (f *Faulty) CreateCQ(entries int) (verbs.CompletionQueue, error) {
	q, err := f.Device.CreateCQ(entries)
	if err != nil {
		return nil, err
	}
	return faultyQueue{q, f}, nil
}

type faultyQueue struct {
	verbs.CompletionQueue
	dev *Faulty
}

// Poll takes completions, and lets some vanish.
func (q faultyQueue) Poll(wc []verbs.Completion) (int, error) {
	for {
		n, err := q.CompletionQueue.Poll(wc)
		if kept := q.dev.keep(wc[:n]); kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

func (f *Faulty) keep(wc []verbs.Completion) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range wc {
		if f.lose == nil || !f.lose(w) {
			wc[n] = w
			n++
		}
	}
	return n
}

// Break makes all queue pairs fail, as when a cable is pulled.
func (f *Faulty) Break() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for q := range f.pairs {
		if err := q.QueuePair.Fail(); err != nil {
			return err
		}
	}
	return nil
}

// CreateQP returns a queue pair that the device's faults apply to.
func (f *Faulty) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	if q, ok := cq.(faultyQueue); ok {
		cq = q.CompletionQueue
	}
	q, err := f.Device.CreateQP(cq, depth)
	if err != nil {
		return nil, err
	}
	p := &faultyPair{QueuePair: q, dev: f}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pairs[p] = true
	return p, nil
}

type faultyPair struct {
	verbs.QueuePair
	dev  *Faulty
	held []verbs.SendWR
}

// PostSend holds the requests or passes them on.
func (p *faultyPair) PostSend(wrs ...verbs.SendWR) error {
	f := p.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, wr := range wrs {
		if f.match != nil && (len(p.held) > 0 || f.match(wr)) {
			f.hold(p, wrs[i:])
			return p.QueuePair.PostSend(wrs[:i]...)
		}
	}
	return p.QueuePair.PostSend(wrs...)
}

// hold keeps requests, and the bytes that their owners will use again.
func (f *Faulty) hold(p *faultyPair, wrs []verbs.SendWR) {
	for _, wr := range wrs {
		if wr.Inline != nil {
			wr.Inline = bytes.Clone(wr.Inline)
		}
		p.held = append(p.held, wr)
		f.count++
	}
	f.held.Broadcast()
}

// Destroy forgets what is held.
func (p *faultyPair) Destroy() error {
	p.dev.mu.Lock()
	delete(p.dev.pairs, p)
	p.dev.mu.Unlock()
	return p.QueuePair.Destroy()
}
