package dataset

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// ahead is how many elements are computed in advance by default.
const ahead = 8

// Prefetch computes up to n elements of input in advance, as many as serve if n
// is negative.
func Prefetch(input Dataset, n int64) Dataset {
	if n < 0 {
		n = ahead
	}
	if n == 0 {
		return input
	}
	return &prefetched{like(input), int(min(n, 1<<20))}
}

type prefetched struct {
	derived
	n int
}

func (d *prefetched) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &prefetchIterator{over: o, n: d.n, turn: newTurn()} })
}

// A result is what Next returned.
type result struct {
	e   Element
	err error
}

func (r result) isEnd() bool { return errors.Is(r.err, End) }

// prefetchIterator has a goroutine that takes elements from the input, from the
// first Next until the end or Close.
type prefetchIterator struct {
	over
	n     int
	ended bool

	turn  turn // to use the input
	queue backlog
	ready chan struct{} // one for each element in queue
	slots chan struct{} // one for each element in queue, or on its way there
	stop  context.CancelFunc
	done  chan struct{} // closed when the goroutine has ended
	news  chan struct{} // gets a token, if there is room, when something is ready; nil: nothing waits for that
}

// A backlog is what is ready, in order. It takes as much memory as there is in it, which a
// channel would not: buffers may be far larger than what is ever in them.
type backlog struct {
	mu  sync.Mutex
	all []result
}

func (b *backlog) put(r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, r)
}

func (b *backlog) take() result {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.all[0]
	b.all[0] = result{} // the array stays for a while
	b.all = b.all[1:]
	return r
}

func (b *backlog) list() []result {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// has reports whether Next would return something at once, and sees to it that
// some time it will.
func (it *prefetchIterator) has() bool {
	if it.ready == nil && !it.ended {
		it.start(nil)
	}
	return it.ended || len(it.ready) > 0
}

// start starts the goroutine, with what is ready already.
func (it *prefetchIterator) start(have []result) {
	it.n = max(it.n, len(have))
	it.ready, it.slots, it.done = make(chan struct{}, it.n), make(chan struct{}, it.n), make(chan struct{})
	for _, r := range have {
		it.slots <- struct{}{}
		it.queue.put(r)
		it.ready <- struct{}{}
	}
	var ctx context.Context
	ctx, it.stop = context.WithCancel(context.Background())
	go it.run(ctx)
}

func (it *prefetchIterator) run(ctx context.Context) {
	defer close(it.done)
	for {
		select {
		case it.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ended := it.pull(ctx); ended || ctx.Err() != nil {
			return
		}
	}
}

// pull makes one element ready, for which there is room.
func (it *prefetchIterator) pull(ctx context.Context) (ended bool) {
	if !it.turn.take(ctx) {
		return false
	}
	defer it.turn.leave()
	var e Element
	err := core.Guard("a dataset", func() (err error) {
		e, err = it.input.Next(ctx)
		return err
	})
	it.queue.put(result{e, err})
	it.ready <- struct{}{}
	select {
	case it.news <- struct{}{}:
	default:
	}
	return errors.Is(err, End)
}

func (it *prefetchIterator) Next(ctx context.Context) (Element, error) {
	if it.ended {
		return nil, End
	}
	if it.ready == nil {
		it.start(nil)
	}
	select {
	case <-it.ready:
		r := it.queue.take()
		<-it.slots
		it.ended = errors.Is(r.err, End)
		return r.e, r.err
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
}

func (it *prefetchIterator) stopAhead() {
	if it.ready != nil {
		it.stop()
		<-it.done
		it.ready, it.queue.all = nil, nil
	}
}

func (it *prefetchIterator) Close() {
	it.stopAhead()
	it.over.Close()
}

func (it *prefetchIterator) Save(s *State) {
	if !s.wait(it.turn) {
		return
	}
	defer it.turn.leave()
	it.over.Save(s)
	s.PutBool("ended", it.ended)
	var list []result
	for _, r := range it.queue.list() {
		if !errors.Is(r.err, End) { // which comes again
			list = append(list, r)
		}
	}
	s.putResults("results", list)
}

func (it *prefetchIterator) Restore(ctx context.Context, s *State) {
	it.stopAhead()
	it.over.Restore(ctx, s)
	it.ended = s.Bool("ended")
	if have := s.resultsOr("ready"); len(have) > 0 && s.Err() == nil {
		it.start(have)
	}
}
