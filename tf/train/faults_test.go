package train_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// begun returns a session in which all variables have their first values.
func begun(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	return s
}

// numbers is a queue of int64 scalars.
func numbers(g *tf.Graph, capacity int) *queue.Queue {
	return queue.NewFIFO(g, []tf.DType{tf.Int64}, queue.Opts{Capacity: capacity, Shapes: []tf.Shape{{}}})
}

func runnerOf(q *queue.Queue, enqueue ...*tf.Operation) *train.QueueRunner {
	return &train.QueueRunner{Queue: q.Handle.Operation().Name, Enqueue: enqueue, Close: q.Close(), Cancel: q.Close(queue.CloseOpts{CancelPendingEnqueues: true})}
}

// TestOneFailsWhileOthersBlock: the error of one thread sets free those that wait
// for room, those that wait for elements and those of other runners, and is what
// Join tells.
func TestOneFailsWhileOthersBlock(t *testing.T) {
	g := tf.NewGraph()
	full, empty := numbers(g, 1), numbers(g, 10)
	one := ops.Scalar(g, int64(1))
	count := tf.NewVariable(ops.Scalar(g, int32(0)), tf.VariableOptions{Local: true})
	next := tf.Apply(nil, "ResourceCountUpTo", []tf.Output{count.Handle()}, tf.Attr("limit", 100), tf.Attr("T", tf.Int32)).Output(0)
	fails := ops.Gather(ops.Const(g, []int64{7, 8, 9}), next, 0) // the fourth time
	train.AddQueueRunner(g, runnerOf(full, full.Enqueue([]tf.Output{one}), full.EnqueueMany([]tf.Output{ops.Const(g, []int64{1, 2, 3})})))
	train.AddQueueRunner(g, runnerOf(empty, empty.Enqueue([]tf.Output{fails})))
	many := empty.DequeueMany(ops.Scalar(g, int32(5)))[0]
	s := begun(t, g)
	c := train.NewCoordinator(t.Context())
	train.StartQueueRunners(g, c, s)
	c.Go(func(ctx context.Context) error {
		_, err := s.Run(ctx, nil, many)
		return err
	})
	err := c.Join()
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "3 is not in [0, 3)") {
		t.Errorf("Join tells %v", err)
	}
}

// TestCloseAnswersAll closes queues for which steps of every kind wait.
func TestCloseAnswersAll(t *testing.T) {
	g := tf.NewGraph()
	full, empty := numbers(g, 1), numbers(g, 10)
	n, two := ops.Scalar(g, int64(1)), ops.Scalar(g, int32(2))
	fill := full.Enqueue([]tf.Output{n})
	waits := map[tf.Fetchable]tf.Code{
		full.Enqueue([]tf.Output{n}): tf.Canceled, full.EnqueueMany([]tf.Output{ops.Const(g, []int64{1, 2})}): tf.Canceled,
		empty.Dequeue()[0]: tf.OutOfRange, empty.DequeueMany(two)[0]: tf.OutOfRange, empty.DequeueUpTo(two)[0]: tf.OutOfRange,
	}
	ends := []*tf.Operation{full.Close(queue.CloseOpts{CancelPendingEnqueues: true}), empty.Close()}
	s := begun(t, g)
	if _, err := s.Run(t.Context(), nil, fill); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		f   tf.Fetchable
		err error
	}
	answers := make(chan answer)
	for f := range waits {
		go func() {
			_, err := s.Run(t.Context(), nil, f)
			answers <- answer{f, err}
		}()
	}
	for _, op := range ends {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	for range waits {
		// A step that comes after the end is told the same.
		if a := <-answers; tf.CodeOf(a.err) != waits[a.f] {
			t.Errorf("%v: %v, want %v", a.f, a.err, waits[a.f])
		}
	}
}

// TestCancelledBatchGivesBack ends a step that has some of the elements that it
// waits for: they are there for others, in order.
func TestCancelledBatchGivesBack(t *testing.T) {
	g := tf.NewGraph()
	q := numbers(g, 10)
	fill := q.EnqueueMany([]tf.Output{ops.Const(g, []int64{1, 2, 3})})
	five, three := q.DequeueMany(ops.Scalar(g, int32(5)))[0], q.DequeueMany(ops.Scalar(g, int32(3)))[0]
	size := queue.QueueSizeV2(q.Handle)
	s := begun(t, g)
	if _, err := s.Run(t.Context(), nil, fill); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.Run(ctx, nil, five)
		ended <- err
	}()
	for taken := false; !taken; { // until the step has them
		v, err := s.Run(t.Context(), nil, size)
		if err != nil {
			t.Fatal(err)
		}
		taken = tf.Data[int32](v[0])[0] == 0
	}
	cancel()
	if err := <-ended; tf.CodeOf(err) != tf.Canceled {
		t.Error(err)
	}
	v, err := s.Run(t.Context(), nil, three)
	if err != nil || !slices.Equal(tf.Data[int64](v[0]), []int64{1, 2, 3}) {
		t.Errorf("%v, %v", v, err)
	}
}

// TestManyCycles starts and stops a pipeline of two queues a thousand times, at
// any time. What was taken until then are the first elements, each once; what is
// left is what is not taken; no goroutine stays, see TestMain.
func TestManyCycles(t *testing.T) {
	const cycles, elements = 1000, 12
	g := tf.NewGraph()
	first := train.RangeInputProducer(ops.Scalar(g, int32(elements)), train.ProducerOptions{Epochs: 1, InOrder: true, Capacity: 3})
	batch := train.Batch(first.Dequeue(), 2, train.BatchOptions{Capacity: 4})[0]
	init := tf.InitializeAll(g)
	r := rand.New(rand.NewPCG(1, 2))
	for cycle := range cycles {
		taken, err := oneCycle(t.Context(), g, init, batch, r.IntN(elements/2+2))
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		for i, v := range taken {
			if v != int32(i) {
				t.Fatalf("cycle %d took %v", cycle, taken)
			}
		}
	}
}

// oneCycle takes up to n batches, stops everything and returns what was taken.
func oneCycle(ctx context.Context, g *tf.Graph, init *tf.Operation, batch tf.Output, n int) (taken []int32, err error) {
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, init); err != nil {
		return nil, err
	}
	c := train.NewCoordinator(ctx)
	train.StartQueueRunners(g, c, s)
	for range n {
		v, err := s.Run(ctx, nil, batch)
		if train.CleanStop(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		taken = append(taken, tf.Data[int32](v[0])...)
	}
	c.RequestStop(nil)
	return taken, c.Join()
}
