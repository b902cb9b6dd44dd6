package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// An answer is what a receive gave.
type answer struct {
	t    *core.Tensor
	dead bool
	err  error
}

// recv begins a receive; the channel has room for an answer too many.
func recv(ctx context.Context, r core.Rendezvous, key string) chan answer {
	c := make(chan answer, 2)
	r.Recv(ctx, key, func(t *core.Tensor, dead bool, err error) { c <- answer{t, dead, err} })
	return c
}

// now returns the answer that has to be there already.
func now(t *testing.T, c chan answer) answer {
	t.Helper()
	select {
	case a := <-c:
		return a
	default:
		t.Fatal("the receive is not answered")
		return answer{}
	}
}

func wantWaiting(t *testing.T, c chan answer) {
	t.Helper()
	select {
	case a := <-c:
		t.Fatalf("the receive is answered: %+v", a)
	default:
	}
}

func wantValue(t *testing.T, a answer, want int64) {
	t.Helper()
	if a.err != nil || a.dead || a.t == nil || a.t.At(0) != want {
		t.Errorf("got %v, dead %v, error %v, want %d", a.t, a.dead, a.err, want)
	}
}

func mustSend(t *testing.T, r core.Rendezvous, key string, v int64) {
	t.Helper()
	if err := r.Send(key, core.Scalar(v), false); err != nil {
		t.Fatal(err)
	}
}

// counted returns a tensor and a count of how often its memory was given back.
func counted() (*core.Tensor, *int) {
	freed := new(int)
	return core.TensorOf(core.Uint8, core.Shape{8}, memory.Adopt(make([]byte, 8), func() { *freed++ })), freed
}

var background = context.Background()

func TestLocalSendFirst(t *testing.T) {
	l := NewLocal(nil)
	mustSend(t, l, "a", 1)
	mustSend(t, l, "b", 2)
	wantValue(t, now(t, recv(background, l, "b")), 2)
	wantValue(t, now(t, recv(background, l, "a")), 1)
	c := recv(background, l, "a")
	wantWaiting(t, c) // the value is consumed
	mustSend(t, l, "a", 3)
	wantValue(t, now(t, c), 3)
}

func TestLocalQueues(t *testing.T) {
	l := NewLocal(nil)
	for i := range int64(5) {
		mustSend(t, l, "k", i)
	}
	for i := range int64(5) {
		wantValue(t, now(t, recv(background, l, "k")), i)
	}
	var waiters []chan answer
	for range 5 {
		waiters = append(waiters, recv(background, l, "k"))
	}
	for i := range int64(5) {
		mustSend(t, l, "k", i)
		wantValue(t, now(t, waiters[i]), i)
	}
	if len(l.table) != 0 {
		t.Errorf("empty queues are kept: %v", l.table)
	}
}

func TestLocalDead(t *testing.T) {
	l := NewLocal(nil)
	if err := l.Send("k", nil, true); err != nil {
		t.Fatal(err)
	}
	if a := now(t, recv(background, l, "k")); !a.dead || a.t != nil || a.err != nil {
		t.Errorf("dead value arrives as %+v", a)
	}
}

// TestLocalReferences: sending takes a reference, receiving hands it over.
func TestLocalReferences(t *testing.T) {
	l := NewLocal(nil)
	v, freed := counted()
	if err := l.Send("k", v, false); err != nil {
		t.Fatal(err)
	}
	v.Release()
	if *freed != 0 {
		t.Fatal("a value that waits has lost its memory")
	}
	a := now(t, recv(background, l, "k"))
	if *freed != 0 {
		t.Fatal("a received value has lost its memory")
	}
	a.t.Release()
	if *freed != 1 {
		t.Errorf("memory given back %d times, want 1", *freed)
	}
}

func TestLocalAbort(t *testing.T) {
	l := NewLocal(nil)
	v, freed := counted()
	if err := l.Send("unread", v, false); err != nil {
		t.Fatal(err)
	}
	v.Release()
	waiters := []chan answer{recv(background, l, "k"), recv(background, l, "k"), recv(background, l, "j")}
	reason := errors.New("the step failed")
	l.Abort(reason)
	l.Abort(errors.New("a second reason"))
	waiters = append(waiters, recv(background, l, "later"))
	for i, c := range waiters {
		if a := now(t, c); a.err != reason || a.t != nil {
			t.Errorf("receive %d = %+v, want the reason of the abort", i, a)
		}
	}
	if err := l.Send("k", core.Scalar(int64(1)), false); err != reason {
		t.Errorf("Send after the abort = %v", err)
	}
	if *freed != 1 {
		t.Errorf("memory of an unread value given back %d times, want 1", *freed)
	}
}

func TestLocalAbortNeedsNoReason(t *testing.T) {
	l := NewLocal(nil)
	l.Abort(nil)
	if a := now(t, recv(background, l, "k")); core.CodeOf(a.err) != core.Canceled {
		t.Errorf("receive after Abort(nil): %v, want CANCELLED", a.err)
	}
}

func TestLocalCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal(nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		first := recv(background, l, "k")
		second := recv(ctx, l, "k")
		third := recv(background, l, "k")
		last := recv(ctx, l, "k")
		alone := recv(ctx, l, "alone")
		reason := errors.New("the user lost interest")
		cancel(reason)
		synctest.Wait()
		for _, c := range []chan answer{second, last, alone, recv(ctx, l, "new")} {
			a := now(t, c)
			if core.CodeOf(a.err) != core.Canceled || !errors.Is(a.err, reason) || !core.AsError(a.err).Derived {
				t.Errorf("cancelled receive: %v, want CANCELLED, derived, because of the context's cause", a.err)
			}
		}
		mustSend(t, l, "k", 1)
		mustSend(t, l, "k", 2)
		wantValue(t, now(t, first), 1)
		wantValue(t, now(t, third), 2)
		mustSend(t, l, "k", 3) // nobody is left in the queue
		wantValue(t, now(t, recv(ctx, l, "k")), 3)
	})
}

// TestLocalCancelAfterAnswer: a context that ends later changes nothing.
func TestLocalCancelAfterAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal(nil)
		ctx, cancel := context.WithCancel(t.Context())
		c := recv(ctx, l, "k")
		mustSend(t, l, "k", 1)
		other := recv(background, l, "k")
		cancel()
		synctest.Wait()
		wantValue(t, now(t, c), 1)
		wantWaiting(t, c)
		wantWaiting(t, other)
		l.Abort(nil)
	})
}

func TestLocalReset(t *testing.T) {
	l := NewLocal(nil)
	v, freed := counted()
	for range 3 {
		if err := l.Send("k", v, false); err != nil {
			t.Fatal(err)
		}
	}
	v.Release()
	l.Reset()
	if *freed != 1 {
		t.Error("Reset keeps the values of the step before")
	}
	l.Abort(nil)
	l.Reset()
	mustSend(t, l, "k", 1)
	wantValue(t, now(t, recv(background, l, "k")), 1)
}

// TestLocalAllocations: in steady state a transfer costs the tensor's header.
func TestLocalAllocations(t *testing.T) {
	l := NewLocal(nil)
	v := core.Scalar(int64(1))
	done := func(t *core.Tensor, _ bool, _ error) { t.Release() }
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	if n := testing.AllocsPerRun(100, func() {
		_ = l.Send("k", v, false)
		l.Recv(ctx, "k", done)
		l.Recv(background, "j", done)
		_ = l.Send("j", v, false)
	}); n > 2 {
		t.Errorf("two transfers allocate %v times, want 2", n)
	}
}

func TestLocalConcurrent(t *testing.T) {
	l := NewLocal(nil)
	const keys, each = 8, 200
	var wg sync.WaitGroup
	var mu sync.Mutex
	sums := make([]int64, keys)
	var answers sync.WaitGroup
	answers.Add(keys * each)
	for k := range keys {
		key := fmt.Sprint("key", k)
		wg.Go(func() {
			for i := range int64(each) {
				if err := l.Send(key, core.Scalar(i), false); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			for range each {
				l.Recv(ctx, key, func(v *core.Tensor, _ bool, err error) {
					defer answers.Done()
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					sums[k] += v.At(0).(int64)
					mu.Unlock()
				})
			}
			answers.Wait()
		})
	}
	wg.Wait()
	for k, s := range sums {
		if s != each*(each-1)/2 {
			t.Errorf("key %d: sum of what arrived = %d", k, s)
		}
	}
}
