package dataset

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// ParallelMap is Map with up to n calls of f under way at once, as many as there
// are cores if n is negative. In order, the results are those of Map; else an
// element that is done sooner comes sooner.
func ParallelMap(input Dataset, f Func, spec *Spec, keep bool, n int64, inOrder bool) Dataset {
	if n < 0 {
		n = int64(runtime.GOMAXPROCS(0))
	}
	m := mapped{derived{common{spec}, input}, f, keep}
	return &parallelMapped{m, int(min(n, 1<<16)), inOrder}
}

type parallelMapped struct {
	mapped
	n       int
	inOrder bool
}

func (d *parallelMapped) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator {
		return &parallelMapIterator{over: o, d: d, turn: newTurn(), slots: make(chan struct{}, d.n), news: make(chan struct{}, 1)}
	})
}

// parallelMapIterator has up to n goroutines, from the first Next until the end or Close. Each
// takes an element from the input, when it is its turn, and calls the function with it. So a
// result that is there need not wait for an input that has no further element yet.
type parallelMapIterator struct {
	over
	d     *parallelMapped
	life  context.Context
	stop  context.CancelFunc // nil: there are no goroutines
	group sync.WaitGroup
	turn  turn          // to use the input
	slots chan struct{} // one for each call, or for its element on the way there
	news  chan struct{} // gets a token, if there is room, when Next or Save may go on

	mu      sync.Mutex
	calls   []*call // in the order of the input
	workers int     // goroutines
	idle    int     // those of them that call no function
	ended   bool    // nothing more is wanted from the input
}

// A call is one of the function.
type call struct {
	result
	done bool
}

func (it *parallelMapIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil { // else a caller that goes on for long may never see it
		return nil, cancelled(ctx)
	}
	for {
		r, ok := it.take()
		if !ok {
			select {
			case <-it.news:
				continue
			case <-ctx.Done():
				return nil, cancelled(ctx)
			}
		}
		if r.isEnd() {
			it.end()
		}
		return r.e, r.err
	}
}

// end gives up what comes after the end, and does not wait for that.
func (it *parallelMapIterator) end() {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.ended, it.calls = true, nil
	if it.stop != nil {
		it.stop()
	}
}

// take takes the result that comes next, if it is there.
func (it *parallelMapIterator) take() (r result, ok bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.ended && len(it.calls) == 0 {
		return result{err: End}, true
	}
	if it.stop == nil && !it.ended {
		it.life, it.stop = context.WithCancel(context.Background())
		it.hire()
	}
	for i, c := range it.calls {
		if c.done {
			it.remove(i)
			return c.result, true
		}
		if it.d.inOrder {
			break
		}
	}
	return result{}, false
}

func (it *parallelMapIterator) remove(i int) {
	if i == 0 {
		it.calls[0] = nil // the array stays for a while
		it.calls = it.calls[1:]
	} else {
		it.calls = slices.Delete(it.calls, i, i+1)
	}
	<-it.slots
}

// hire starts a goroutine.
func (it *parallelMapIterator) hire() {
	it.workers++
	it.idle++
	it.group.Go(it.work)
}

func (it *parallelMapIterator) work() {
	for c := it.begin(); c != nil; c = it.begin() {
		out := result{err: c.err}
		if c.err == nil {
			out.err = core.Guard("the function of a dataset", func() (err error) {
				out.e, err = it.d.apply(it.life, c.e)
				return err
			})
		}
		it.finish(c, out)
	}
}

// begin takes the input's next element, or its error, for a call. It returns nil if there is
// to be none.
func (it *parallelMapIterator) begin() *call {
	select {
	case it.slots <- struct{}{}:
	case <-it.life.Done():
		return nil
	}
	if !it.turn.take(it.life) {
		return nil
	}
	defer it.turn.leave()
	c := &call{}
	if !it.wants() {
		c.err = End
	} else {
		c.err = core.Guard("a dataset", func() (err error) {
			c.e, err = it.input.Next(it.life)
			return err
		})
	}
	return it.enlist(c)
}

func (it *parallelMapIterator) wants() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return !it.ended && it.life.Err() == nil
}

// enlist keeps what is from the input, in its order. Others go on with the input meanwhile.
func (it *parallelMapIterator) enlist(c *call) *call {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.ended = it.ended || c.isEnd(); it.ended {
		<-it.slots
		it.tell()
		return nil
	}
	it.calls = append(it.calls, c)
	if it.idle--; it.idle == 0 && it.workers < it.d.n {
		it.hire()
	}
	return c
}

func (it *parallelMapIterator) finish(c *call, out result) {
	it.mu.Lock()
	defer it.mu.Unlock()
	c.result, c.done = out, true
	it.idle++
	next := len(it.calls) > 0 && (it.calls[0] == c || !it.d.inOrder)
	if next || it.idle == it.workers {
		it.tell()
	}
}

func (it *parallelMapIterator) tell() {
	select {
	case it.news <- struct{}{}:
	default:
	}
}

// drop gives up the calls under way.
func (it *parallelMapIterator) drop() {
	if it.stop != nil {
		it.stop()
		it.group.Wait()
	}
	it.stop, it.calls, it.workers, it.idle = nil, nil, 0, 0
	it.slots = make(chan struct{}, it.d.n)
}

func (it *parallelMapIterator) Close() {
	it.drop()
	it.over.Close()
}

func (it *parallelMapIterator) Save(s *State) {
	if !it.settle(s) {
		return
	}
	defer it.turn.leave()
	it.over.Save(s)
	s.PutBool("ended", it.ended)
	var list []result
	for _, c := range it.calls {
		if c.isEnd() { // nothing after it is wanted
			s.PutBool("ended", true)
			break
		}
		list = append(list, c.result)
	}
	s.putResults("results", list)
}

// settle takes the turn and waits until no call is under way.
func (it *parallelMapIterator) settle(s *State) bool {
	if !s.wait(it.turn) {
		return false
	}
	for it.underWay() {
		if !s.wait(it.news) {
			it.turn.leave()
			return false
		}
	}
	return true
}

func (it *parallelMapIterator) underWay() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.idle < it.workers
}

func (it *parallelMapIterator) Restore(ctx context.Context, s *State) {
	it.drop()
	it.over.Restore(ctx, s)
	it.ended = s.Bool("ended")
	list := s.resultsOr("done")
	if len(list) > it.d.n {
		s.Fail(errTooMany)
		return
	}
	for _, r := range list {
		it.slots <- struct{}{}
		it.calls = append(it.calls, &call{r, true})
	}
}
