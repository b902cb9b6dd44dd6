package dataset

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// eachAhead calls test, in a bubble, with each dataset that takes from its input in advance.
func eachAhead(t *testing.T, f Func, test func(t *testing.T, d Dataset, in *live)) {
	t.Helper()
	eachParallel(t, f, test)
	t.Run("prefetch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := liveInput(0)
			test(t, Prefetch(Map(in, f, scalars, true), 4), in)
		})
	})
	t.Run("batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := liveInput(0)
			test(t, must2(t)(Batch(Prefetch(Prefetch(Map(in, f, scalars, true), 4), 4), 1, true)), in)
		})
	})
}

func started(t *testing.T, d Dataset) *Cursor {
	t.Helper()
	c := NewCursor(*d.Spec())
	if err := c.Start(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSaveEndsWithItsContext: an iterator whose input waits for its next element cannot be
// saved. The caller need not wait for that, and goes on as if nothing had been.
func TestSaveEndsWithItsContext(t *testing.T) {
	eachAhead(t, firstOf, func(t *testing.T, d Dataset, in *live) {
		c := started(t, d)
		defer c.Close()
		in.send <- 0
		if _, err := c.Next(soon(t)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the input waits
		if _, err := c.Save(soon(t)); core.CodeOf(err) != core.DeadlineExceeded {
			t.Errorf("Save: %v", err)
		}
		for v := range int64(3) {
			in.send <- v
			if e, err := c.Next(soon(t)); err != nil || core.Data[int64](e[0])[0] != v {
				t.Errorf("element %d: %v, %v", v, e, err)
			}
		}
	})
}

// TestCloseEndsSave is the same for a cursor that is closed.
func TestCloseEndsSave(t *testing.T) {
	eachAhead(t, firstOf, func(t *testing.T, d Dataset, in *live) {
		c := started(t, d)
		in.send <- 0
		if _, err := c.Next(soon(t)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		saved := make(chan error, 1)
		go func() {
			_, err := c.Save(context.Background())
			saved <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-saved; core.CodeOf(err) != core.Canceled || err.Error() != errDeleted.Error() {
			t.Errorf("Save: %v", err)
		}
	})
}

// TestSaveWaitsForCalls: a state has what was on its way when it was saved.
func TestSaveWaitsForCalls(t *testing.T) {
	gate := make(chan struct{})
	slow := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		if v := core.Data[int64](e[0])[0]; v%4 == 2 {
			<-gate
		}
		return e, nil
	}
	for name := range inParallel(t, liveInput(0), slow) {
		synctest.Test(t, func(t *testing.T) {
			gate = make(chan struct{})
			d := inParallel(t, numbers(t, 0, 9, 1), slow)[name]
			c := started(t, d)
			defer c.Close()
			if e, err := c.Next(soon(t)); err != nil || core.Data[int64](e[0])[0] == 2 {
				t.Fatal(e, err)
			}
			synctest.Wait()
			if _, err := c.Save(soon(t)); core.CodeOf(err) != core.DeadlineExceeded {
				t.Errorf("%s: Save while a function waits: %v", name, err)
			}
			close(gate)
			s, err := c.Save(soon(t))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			again := mustIterate(t, d)
			defer again.Close()
			again.Restore(t.Context(), sent(t, s))
			if n := len(rest(t, again)); n != 8 {
				t.Errorf("%s: %d elements came of the state, want 8", name, n)
			}
		})
	}
}

// TestNestedSaveEndsWithItsContext: datasets that states cannot have are had again from the
// state of the input before them; the call that saves it may be cancelled.
func TestNestedSaveEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := liveInput(2)
		nested := Map(in, func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{Value(numbers(t, 0, 2, 1))}, nil
		}, &Spec{[]core.DType{core.Variant}, []core.Shape{{}}}, true)
		it := mustIterate(t, must2(t)(Interleave(Prefetch(nested, 4), firstOf, scalars, 1, 1, 0)))
		defer it.Close()
		take(t, it, 2)
		if _, err := it.Next(soon(t)); core.CodeOf(err) != core.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		in.send <- 2
		close(in.send)
		if got := fmt.Sprint(rest(t, it)); got != "[[0] [1] [0] [1]]" {
			t.Errorf("got %s", got)
		}
	})
}
