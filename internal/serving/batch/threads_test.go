package batch

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// recorder runs batches that take a second and writes down whose they are.
type recorder struct {
	mu  sync.Mutex
	ran []string
}

func (r *recorder) queue(threads *Threads, name string, p Params) *Queue {
	return NewQueue(threads, p, func(_ context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
		r.mu.Lock()
		r.ran = append(r.ran, name)
		r.mu.Unlock()
		time.Sleep(time.Second)
		return in, nil
	}, nil)
}

// send sends n requests of one row, in this order.
func send(t *testing.T, q *Queue, n int) {
	for range n {
		go q.Run(t.Context(), matrix(t, 1, 1, 0), nil)
		synctest.Wait()
	}
}

// TestInTurn: a model whose queue is full keeps others waiting for one batch.
func TestInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, threads := &recorder{}, NewThreads(1)
		one := Params{MaxSize: 1, MaxBatches: 100, Threads: 2} // a queue that runs a batch stands in line for the next
		a, b, c := r.queue(threads, "a", one), r.queue(threads, "b", one), r.queue(threads, "c", one)
		send(t, a, 6)
		send(t, b, 2)
		send(t, c, 3)
		for _, q := range []*Queue{a, b, c} {
			q.Close()
		}
		got := strings.Join(r.ran, "")
		if got != "aabcabcacaa" { // a stood in line before b came
			t.Errorf("batches in the order %s", got)
		}
	})
}

// TestOthersJoinInLine: requests that come while their queue waits for a thread run in
// the batch that it waits for.
func TestOthersJoinInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, threads := &recorder{}, NewThreads(1)
		a, b := r.queue(threads, "a", Params{}), r.queue(threads, "b", Params{})
		send(t, a, 1)
		send(t, b, 5)
		a.Close()
		b.Close()
		if got := strings.Join(r.ran, ""); got != "ab" {
			t.Errorf("batches in the order %s", got)
		}
	})
}

// TestThreadsAreUsed: all threads run batches, of one queue if no other has any, and
// those whose requests have gone hand on their turn.
func TestThreadsAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, threads := &recorder{}, NewThreads(3)
		one := Params{MaxSize: 1, MaxBatches: 100, Threads: 3}
		a, b, c := r.queue(threads, "a", one), r.queue(threads, "b", one), r.queue(threads, "c", one)
		start := time.Now()
		send(t, a, 6)
		ctx, cancel := context.WithCancel(t.Context())
		go b.Run(ctx, matrix(t, 1, 1, 0), nil)
		synctest.Wait()
		send(t, c, 3)
		cancel()
		synctest.Wait()
		for _, q := range []*Queue{a, b, c} {
			q.Close()
		}
		if got := fmt.Sprint(len(r.ran), strings.Count(strings.Join(r.ran, ""), "b"), time.Since(start)); got != "9 0 3s" {
			t.Errorf("batches, those of b, and time: %s", got)
		}
		if threads.free != 3 || len(threads.line) != 0 {
			t.Errorf("%d threads are free, %d queues wait", threads.free, len(threads.line))
		}
	})
}

// TestManyShare: many queues with few threads answer all requests, never run more
// batches than there are threads, and give all threads back.
func TestManyShare(t *testing.T) {
	threads := NewThreads(2)
	var now, most atomic.Int64
	var all sync.WaitGroup
	queues := make([]*Queue, 5)
	for i := range queues {
		queues[i] = NewQueue(threads, Params{MaxSize: 3, MaxBatches: 1000, Timeout: time.Duration(i%2) * 10 * time.Microsecond}, func(_ context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
			defer now.Add(-1)
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			return in, nil
		}, nil)
		for range 100 {
			all.Go(func() {
				if out, err := queues[i].Run(t.Context(), matrix(t, 2, 1, float32(i)), nil); err != nil || tf.Data[float32](out["x"])[0] != float32(i) {
					t.Errorf("%v, %v", out, err)
				}
			})
		}
	}
	all.Wait()
	for _, q := range queues {
		q.Close()
	}
	if most.Load() > 2 || threads.free != 2 {
		t.Errorf("%d batches at once, %d threads are free", most.Load(), threads.free)
	}
}
