package train

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf"
)

// steps is a session in which each operation is a Go function.
type steps struct {
	g   *tf.Graph
	ops map[*tf.Operation]func(ctx context.Context) error
}

func (s *steps) Graph() *tf.Graph { return s.g }

func (s *steps) RunStep(ctx context.Context, _ map[tf.Output]tf.Value, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	return nil, s.ops[fetches[0].Operation()](ctx)
}

// op adds an operation that does f.
func (s *steps) op(f func(ctx context.Context) error) *tf.Operation {
	op := tf.Apply(s.g, "NoOp", nil)
	s.ops[op] = f
	return op
}

func newSteps() *steps {
	return &steps{tf.NewGraph(), map[*tf.Operation]func(context.Context) error{}}
}

// countTo returns what succeeds n times and then finds the queue closed.
func countTo(n int32, total *atomic.Int32) func(context.Context) error {
	var calls atomic.Int32
	return func(context.Context) error {
		if calls.Add(1) > n {
			return tf.Errorf(tf.OutOfRange, "closed")
		}
		total.Add(1)
		return nil
	}
}

func TestQueueRunnerClosesAtTheEnd(t *testing.T) {
	s := newSteps()
	var total, closed, cancelled atomic.Int32
	r := &QueueRunner{
		Enqueue: []*tf.Operation{s.op(countTo(3, &total)), s.op(countTo(20, &total))},
		Close:   s.op(func(context.Context) error { closed.Add(1); return nil }),
		Cancel:  s.op(func(context.Context) error { cancelled.Add(1); return nil }),
	}
	AddQueueRunner(s.g, r)
	c := NewCoordinator(context.Background())
	StartQueueRunners(s.g, c, s)
	if err := c.Join(); err != nil {
		t.Fatal(err)
	}
	if total.Load() != 23 || closed.Load() != 1 || cancelled.Load() != 0 || len(r.Errors()) != 0 {
		t.Fatal(total.Load(), closed.Load(), cancelled.Load(), r.Errors())
	}
}

// TestQueueRunnerFails: an error of one goroutine stops the others, which wait,
// and sets them free by the cancel operation.
func TestQueueRunnerFails(t *testing.T) {
	s := newSteps()
	free := make(chan struct{})
	r := &QueueRunner{
		Enqueue: []*tf.Operation{
			s.op(func(context.Context) error { <-free; return tf.Errorf(tf.Canceled, "closed") }),
			s.op(func(context.Context) error { return errBroken }),
		},
		Close:  s.op(func(context.Context) error { t.Error("closed as if the input had ended"); return nil }),
		Cancel: s.op(func(context.Context) error { close(free); return nil }),
	}
	c := NewCoordinator(context.Background())
	r.Start(c, s)
	if err := c.Join(); err != errBroken {
		t.Fatal(err)
	}
	if errs := r.Errors(); len(errs) != 1 || errs[0] != errBroken {
		t.Fatal(errs)
	}
}

// TestTheOnlyProducerFails: the runner closes the queue when its only producer fails, so that no
// reader waits for ever, and it does so after the coordinator has the error.
func TestTheOnlyProducerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSteps()
		c := NewCoordinator(t.Context())
		fail, free := make(chan struct{}), make(chan struct{})
		r := &QueueRunner{
			Enqueue: []*tf.Operation{s.op(func(context.Context) error { <-fail; return errBroken })},
			Close:   s.op(func(context.Context) error { t.Error("closed as if the input had ended"); return nil }),
			Cancel: s.op(func(context.Context) error {
				if c.Err() != errBroken {
					t.Errorf("the queue is closed before the coordinator knows: %v", c.Err())
				}
				close(free)
				return nil
			}),
		}
		r.Start(c, s)
		synctest.Wait()
		close(fail)
		if err := c.Join(); err != errBroken {
			t.Errorf("got %v", err)
		}
		select {
		case <-free:
		default:
			t.Error("nothing has closed the queue: its readers wait for ever")
		}
	})
}

// TestProducerIsAborted: a runner whose producers have lost a task closes the queue, as it
// does after other errors, unless another session is to go on with it.
func TestProducerIsAborted(t *testing.T) {
	aborted := tf.Errorf(tf.Aborted, "a task is gone")
	for _, heals := range []bool{false, true} {
		for _, others := range []int{0, 1} { // producers that wait for room
			s := newSteps()
			c := NewCoordinator(t.Context())
			c.heals = heals
			var cancelled atomic.Int32
			r := &QueueRunner{
				Enqueue: []*tf.Operation{s.op(func(context.Context) error { return aborted })},
				Cancel:  s.op(func(context.Context) error { cancelled.Add(1); return nil }),
			}
			for range others {
				r.Enqueue = append(r.Enqueue, s.op(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
			}
			r.Start(c, s)
			if err := c.Join(); err != aborted {
				t.Error(err)
			}
			if got := cancelled.Load() == 1; got == heals {
				t.Errorf("another session comes: %v, %d other producers: the queue is closed: %v", heals, others, got)
			}
		}
	}
}

// TestQueueRunnerStopped: a goroutine that finds the coordinator stopped before
// its first step has not reached the end of the input.
func TestQueueRunnerStopped(t *testing.T) {
	s := newSteps()
	r := &QueueRunner{
		Enqueue: []*tf.Operation{s.op(func(context.Context) error { t.Error("a step after the stop"); return nil })},
		Close:   s.op(func(context.Context) error { t.Error("closed as if the input had ended"); return nil }),
	}
	c := NewCoordinator(context.Background())
	c.RequestStop(nil)
	r.Start(c, s)
	if err := c.Join(); err != nil {
		t.Fatal(err)
	}
}

// TestQueueRunnerRestarts: a thousand starts and stops leave nothing behind.
func TestQueueRunnerRestarts(t *testing.T) {
	s := newSteps()
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	r := &QueueRunner{Enqueue: []*tf.Operation{s.op(wait), s.op(wait)}, Cancel: s.op(func(context.Context) error { return nil })}
	c := NewCoordinator(context.Background())
	for range 1000 {
		r.Start(c, s)
		r.Start(c, s) // at work already
		c.RequestStop(nil)
		if err := c.Join(); err != nil {
			t.Fatal(err)
		}
		c.ClearStop()
	}
	if len(r.running) != 0 || c.running != 0 {
		t.Fatal(r.running, c.running)
	}
}

func TestQueueRunnerProto(t *testing.T) {
	s := newSteps()
	none := func(context.Context) error { return nil }
	r := &QueueRunner{Queue: "q", Enqueue: []*tf.Operation{s.op(none), s.op(none)}, Close: s.op(none), Cancel: s.op(none), Closed: []tf.Code{tf.OutOfRange, tf.Canceled}}
	back, err := QueueRunnerFrom(s.g, r.Proto())
	if err != nil {
		t.Fatal(err)
	}
	if back.Queue != "q" || len(back.Enqueue) != 2 || back.Enqueue[1] != r.Enqueue[1] || back.Close != r.Close || back.Cancel != r.Cancel || len(back.Closed) != 2 {
		t.Fatal(back)
	}
	p := r.Proto()
	p.CloseOpName = "gone"
	if _, err := QueueRunnerFrom(s.g, p); tf.CodeOf(err) != tf.InvalidArgument {
		t.Fatal(err)
	}
}
