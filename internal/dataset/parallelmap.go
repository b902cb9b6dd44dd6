package dataset

import (
	"context"
	"errors"
	"runtime"
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
		it := &parallelMapIterator{over: o, d: d, any: make(chan struct{}, d.n)}
		it.life, it.stop = context.WithCancel(context.Background())
		return it
	})
}

// parallelMapIterator begins calls when it is asked for an element. They go on
// until they are done, each on a goroutine of its own, or until Close.
type parallelMapIterator struct {
	over
	d     *parallelMapped
	life  context.Context
	stop  context.CancelFunc
	calls []*call // in the order of the input
	any   chan struct{}
	ended bool
	group sync.WaitGroup
}

// A call is one of the function.
type call struct {
	result
	done chan struct{}
}

func (it *parallelMapIterator) Next(ctx context.Context) (Element, error) {
	if err := it.begin(ctx); err != nil {
		return nil, err
	}
	if len(it.calls) == 0 {
		return nil, End
	}
	i, err := it.wait(ctx)
	if err != nil {
		return nil, err
	}
	c := it.calls[i]
	it.calls = append(it.calls[:i], it.calls[i+1:]...)
	if errors.Is(c.err, End) { // what comes after it is not wanted
		it.ended = true
		it.drop()
	}
	return c.e, c.err
}

// begin begins as many calls as there may be at once. An error of the input is
// the result of a call.
func (it *parallelMapIterator) begin(ctx context.Context) error {
	for len(it.calls) < it.d.n && !it.ended {
		e, err := it.input.Next(ctx)
		if errors.Is(err, End) {
			it.ended = true
			return nil
		}
		if interrupted(ctx, err) { // else the element has been taken, though ctx may have ended meanwhile
			return cancelled(ctx)
		}
		c := &call{done: make(chan struct{})}
		it.calls = append(it.calls, c)
		it.group.Add(1)
		go it.run(c, result{e, err})
	}
	return nil
}

func (it *parallelMapIterator) run(c *call, in result) {
	defer it.group.Done()
	if c.err = in.err; c.err == nil {
		c.err = core.Guard("the function of a dataset", func() (err error) {
			c.e, err = it.d.apply(it.life, in.e)
			return err
		})
	}
	close(c.done)
	it.any <- struct{}{}
}

// wait waits for the call whose result comes next.
func (it *parallelMapIterator) wait(ctx context.Context) (int, error) {
	select {
	case <-it.next():
		if it.d.inOrder {
			<-it.any
			return 0, nil
		}
		for i, c := range it.calls {
			select {
			case <-c.done:
				return i, nil
			default:
			}
		}
		return 0, nil
	case <-ctx.Done():
		return 0, cancelled(ctx)
	}
}

func (it *parallelMapIterator) next() <-chan struct{} {
	if it.d.inOrder {
		return it.calls[0].done
	}
	return it.any
}

// drop gives up the calls under way.
func (it *parallelMapIterator) drop() {
	it.stop()
	it.group.Wait()
	it.calls, it.any = nil, make(chan struct{}, it.d.n)
	it.life, it.stop = context.WithCancel(context.Background())
}

func (it *parallelMapIterator) Close() {
	it.stop()
	it.group.Wait()
	it.over.Close()
}

func (it *parallelMapIterator) Save(s *State) {
	it.group.Wait()
	it.over.Save(s)
	s.PutBool("ended", it.ended)
	var list []result
	for _, c := range it.calls {
		if errors.Is(c.err, End) { // nothing after it is wanted
			s.PutBool("ended", true)
			break
		}
		list = append(list, c.result)
	}
	s.putResults("results", list)
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
		c := &call{r, make(chan struct{})}
		close(c.done)
		it.any <- struct{}{}
		it.calls = append(it.calls, c)
	}
}
