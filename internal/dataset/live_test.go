package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// A live input gives what it is sent, and counts it.
type live struct {
	Dataset
	send  chan int64
	given atomic.Int64
}

// liveInput returns one that has the numbers up to n.
func liveInput(n int64) *live {
	in := &live{send: make(chan int64, 100)}
	for v := range n {
		in.send <- v
	}
	in.Dataset = Generate(scalars, func() (Func, func()) { return in.next, nil })
	return in
}

func (in *live) next(ctx context.Context, _ []*core.Tensor) ([]*core.Tensor, error) {
	select {
	case v, ok := <-in.send:
		if !ok {
			return nil, End
		}
		in.given.Add(1)
		return []*core.Tensor{core.Scalar(v)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inParallel returns datasets that call f up to four times at once with the elements of in.
func inParallel(t *testing.T, in Dataset, f Func) map[string]Dataset {
	t.Helper()
	yes := func(ctx context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		_, err := f(ctx, e)
		return []*core.Tensor{core.Scalar(true)}, err
	}
	return map[string]Dataset{
		"map": ParallelMap(in, f, scalars, true, 4, true), "map in any order": ParallelMap(in, f, scalars, true, 4, false),
		"map of any length": ParallelMap(in, f, scalars, false, 4, true),
		"filter":            must2(t)(ParallelFilter(in, yes, 4, true)), "filter in any order": must2(t)(ParallelFilter(in, yes, 4, false)),
	}
}

// eachParallel calls test, in a bubble, with each of those.
func eachParallel(t *testing.T, f Func, test func(t *testing.T, d Dataset, in *live)) {
	t.Helper()
	for name := range inParallel(t, liveInput(0), f) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := liveInput(0)
				test(t, inParallel(t, in, f)[name], in)
			})
		})
	}
}

// soon is a context that ends when nothing goes on any more.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestResultsDoNotWaitForTheInput: what has been computed is given while the input waits for
// its next element. A call that waits for that takes nothing away when it is cancelled.
func TestResultsDoNotWaitForTheInput(t *testing.T) {
	eachParallel(t, firstOf, func(t *testing.T, d Dataset, in *live) {
		it := mustIterate(t, d)
		defer it.Close()
		for v := range int64(6) {
			if _, err := it.Next(soon(t)); core.CodeOf(err) != core.DeadlineExceeded {
				t.Errorf("before element %d: %v", v, err)
			}
			in.send <- v
			if e, err := it.Next(soon(t)); err != nil || core.Data[int64](e[0])[0] != v {
				t.Fatalf("element %d: %v, %v", v, e, err)
			}
		}
		close(in.send)
		for range 2 {
			if _, err := it.Next(soon(t)); !errors.Is(err, End) {
				t.Errorf("at the end: %v", err)
			}
		}
	})
}

// TestCloseEndsTheWaitForTheInput: the bubble reports goroutines that are left.
func TestCloseEndsTheWaitForTheInput(t *testing.T) {
	eachParallel(t, firstOf, func(t *testing.T, d Dataset, in *live) {
		in.send <- 0
		it := mustIterate(t, d)
		if _, err := it.Next(soon(t)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		it.Close()
	})
}

// TestCallsAreBounded: there are no more elements on the way than calls.
func TestCallsAreBounded(t *testing.T) {
	eachParallel(t, firstOf, func(t *testing.T, d Dataset, in *live) {
		for v := range int64(50) {
			in.send <- v
		}
		it := mustIterate(t, d)
		defer it.Close()
		for n := range int64(9) {
			if _, err := it.Next(soon(t)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := in.given.Load(); got != n+1+4 {
				t.Errorf("%d elements were taken for %d results and 4 calls", got, n+1)
			}
		}
	})
}

// TestEarlierResultsComeFirst: a result whose function is done sooner comes sooner only where
// any order will do.
func TestEarlierResultsComeFirst(t *testing.T) {
	for inOrder, want := range map[bool]string{true: "0 1 2", false: "2 1 0"} {
		synctest.Test(t, func(t *testing.T) {
			slow := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
				time.Sleep(time.Duration(10-core.Data[int64](e[0])[0]) * time.Millisecond)
				return e, nil
			}
			it := mustIterate(t, ParallelMap(liveInput(3), slow, scalars, true, 4, inOrder))
			defer it.Close()
			var got []any
			for range 3 {
				e, err := it.Next(soon(t))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, core.Data[int64](e[0])[0])
			}
			if s := fmt.Sprintln(got...); s != want+"\n" {
				t.Errorf("in order: %v, got %swant %s", inOrder, s, want)
			}
		})
	}
}

// TestFunctionEndsALiveDataset: a dataset that its function ends does not wait for its input,
// nor for functions that were called with what came later.
func TestFunctionEndsALiveDataset(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			end := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
				if core.Data[int64](e[0])[0] == 0 {
					return nil, End
				}
				<-gate
				return e, nil
			}
			in := liveInput(3)
			deaf := Generate(scalars, func() (Func, func()) {
				return func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
					return in.next(t.Context(), e)
				}, nil
			})
			it := mustIterate(t, ParallelMap(deaf, end, scalars, false, 4, inOrder))
			for range 2 {
				if _, err := it.Next(soon(t)); !errors.Is(err, End) {
					t.Errorf("got %v", err)
				}
			}
			in.send <- 3
			close(gate)
			s := NewState()
			it.Save(s)
			it.Close()
			again := mustIterate(t, ParallelMap(deaf, end, scalars, false, 4, inOrder))
			defer again.Close()
			for v := range int64(9) { // the input begins anew
				in.send <- v
			}
			if again.Restore(soon(t), s); s.Err() != nil {
				t.Fatal(s.Err())
			}
			if n := len(rest(t, again)); n > 0 {
				t.Errorf("%d elements came after the end", n)
			}
		})
	}
}

// panics is a dataset whose iterators panic.
type panics struct{ Dataset }

func (d panics) Iterate() (Iterator, error) {
	return iterate(d.Dataset, func(o over) Iterator { return &panicking{o} })
}

type panicking struct{ over }

func (*panicking) Next(context.Context) (Element, error) { panic("no memory") }

// TestPanicsOfInputs: an input that panics gives an error.
func TestPanicsOfInputs(t *testing.T) {
	for name, d := range inParallel(t, panics{numbers(t, 0, 3, 1)}, firstOf) {
		it := mustIterate(t, d)
		if _, err := it.Next(t.Context()); core.CodeOf(err) != core.Internal {
			t.Errorf("%s: got %v", name, err)
		}
		it.Close()
	}
}
