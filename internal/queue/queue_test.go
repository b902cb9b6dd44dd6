package queue

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func mustNew(t testing.TB, s Spec) *Queue {
	t.Helper()
	q, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func vector[T core.Elem](v ...T) *core.Tensor {
	x, err := core.FromSlice(v)
	if err != nil {
		panic(err)
	}
	return x
}

// numbers is a queue of int64 scalars.
func numbers(t testing.TB, kind Kind, capacity int) *Queue {
	return mustNew(t, Spec{Kind: kind, Name: "q", Capacity: capacity, Types: []core.DType{core.Int64}, Shapes: []core.Shape{{}}})
}

// answer collects what an attempt comes to.
type answer struct {
	t    Tuple
	err  error
	done bool
}

func (a *answer) take(t Tuple, err error) { a.t, a.err, a.done = t, err, true }
func (a *answer) put(err error)           { a.err, a.done = err, true }

func (a *answer) ints() []int64 {
	if a.err != nil || len(a.t) == 0 {
		return nil
	}
	return core.Data[int64](a.t[len(a.t)-1])
}

var background = context.Background()

// put enqueues a batch, which must not have to wait.
func put(t *testing.T, q *Queue, batch ...*core.Tensor) {
	t.Helper()
	var a answer
	if q.EnqueueMany(background, batch, a.put); !a.done || a.err != nil {
		t.Fatalf("enqueue: done %v, %v", a.done, a.err)
	}
}

// takeN dequeues n elements, for which it must not have to wait.
func takeN(t *testing.T, q *Queue, n int, upTo bool) answer {
	t.Helper()
	var a answer
	if q.DequeueMany(background, n, upTo, a.take); !a.done {
		t.Fatal("the dequeue waits")
	}
	return a
}

func TestAttemptsAreServedInOrder(t *testing.T) {
	q := numbers(t, FIFO, 2)
	var first, second, third answer
	q.DequeueMany(background, 3, false, first.take)
	q.Dequeue(background, second.take)
	q.Dequeue(background, third.take)
	put(t, q, vector[int64](1, 2))
	if first.done || second.done {
		t.Fatal("served too early")
	}
	put(t, q, vector[int64](3, 4))
	if !slices.Equal(first.ints(), []int64{1, 2, 3}) || !slices.Equal(second.ints(), []int64{4}) || third.done {
		t.Fatalf("%v, %v, third done: %v", first.ints(), second.ints(), third.done)
	}
	q.CloseQueue(background, false, func(error) {})
	if want := "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0)"; core.CodeOf(third.err) != core.OutOfRange || core.AsError(third.err).Message() != want {
		t.Fatal(third.err)
	}
}

func TestCloseWaitsForEnqueues(t *testing.T) {
	q := numbers(t, FIFO, 1)
	var full, closing, late answer
	q.EnqueueMany(background, Tuple{vector[int64](1, 2)}, full.put)
	q.CloseQueue(background, false, closing.put)
	q.Enqueue(background, Tuple{core.Scalar[int64](3)}, late.put)
	if full.done || closing.done || late.done || q.Closed() {
		t.Fatal("somebody did not wait")
	}
	if got := takeN(t, q, 1, false); !slices.Equal(got.ints(), []int64{1}) {
		t.Fatal(got)
	}
	if !full.done || full.err != nil || !closing.done || closing.err != nil || !q.Closed() {
		t.Fatal("the queue is not closed after its enqueue", full, closing)
	}
	if core.CodeOf(late.err) != core.Canceled || core.AsError(late.err).Message() != "FIFOQueue 'q' is closed." {
		t.Fatal(late.err)
	}
	var again answer
	if q.CloseQueue(background, false, again.put); again.err == nil || core.AsError(again.err).Message() != "Queue 'q' is already closed." {
		t.Fatal(again.err)
	}
}

func TestCloseCancelsEnqueues(t *testing.T) {
	q := numbers(t, FIFO, 1)
	put(t, q, vector[int64](1))
	var waiting, closing answer
	q.Enqueue(background, Tuple{core.Scalar[int64](2)}, waiting.put)
	q.CloseQueue(background, true, closing.put)
	if !closing.done || core.CodeOf(waiting.err) != core.Canceled || core.AsError(waiting.err).Message() != "Enqueue operation was cancelled" {
		t.Fatal(closing, waiting)
	}
	if got := takeN(t, q, 5, true); !slices.Equal(got.ints(), []int64{1}) {
		t.Fatal("what was in the queue is lost", got)
	}
}

// TestCancelGivesBack: an element that a cancelled batch had taken goes to the
// next in line.
func TestCancelGivesBack(t *testing.T) {
	for _, kind := range []Kind{FIFO, RandomShuffle} {
		q := numbers(t, kind, 10)
		ctx, cancel := context.WithCancel(background)
		got := make(chan error, 1)
		q.DequeueMany(ctx, 3, false, func(_ Tuple, err error) { got <- err })
		put(t, q, vector[int64](7, 8))
		var next answer
		served := make(chan struct{})
		q.DequeueMany(background, 2, false, func(t Tuple, err error) { next.take(t, err); close(served) })
		cancel()
		if err := <-got; core.CodeOf(err) != core.Canceled || core.AsError(err).Message() != "Dequeue operation was cancelled" {
			t.Fatal(err)
		}
		<-served
		if sum := next.ints(); len(sum) != 2 || sum[0]+sum[1] != 15 || (kind == FIFO && sum[0] != 7) {
			t.Fatalf("%s: %v", kind, sum)
		}
	}
}

func TestContextThatHasEnded(t *testing.T) {
	q := numbers(t, FIFO, 10)
	ctx, cancel := context.WithCancel(background)
	cancel()
	var a, b answer
	q.Enqueue(ctx, Tuple{core.Scalar[int64](1)}, a.put)
	q.Dequeue(ctx, b.take)
	if core.CodeOf(a.err) != core.Canceled || core.CodeOf(b.err) != core.Canceled || q.Size() != 0 {
		t.Fatal(a.err, b.err, q.Size())
	}
}

// TestManyWait: operations that wait are records, not goroutines, and one close
// answers them all.
func TestManyWait(t *testing.T) {
	const n = 10_000
	q := numbers(t, FIFO, 10)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	before := runtime.NumGoroutine()
	var answers atomic.Int32
	for range n {
		q.Dequeue(ctx, func(_ Tuple, err error) {
			if core.CodeOf(err) == core.OutOfRange {
				answers.Add(1)
			}
		})
	}
	if now := runtime.NumGoroutine(); now > before+10 {
		t.Fatalf("%d goroutines for %d dequeues", now-before, n)
	}
	q.Close()
	if answers.Load() != n {
		t.Fatalf("%d answers", answers.Load())
	}
}

// TestConcurrent counts what many producers, consumers and cancellers move.
func TestConcurrent(t *testing.T) {
	const producers, each = 8, 500
	q := numbers(t, FIFO, 13)
	var sum, taken atomic.Int64
	var consumers, all sync.WaitGroup
	for range 4 {
		consumers.Go(func() { consume(q, &sum, &taken) })
	}
	for p := range producers {
		all.Go(func() {
			for i := range each {
				await(func(done func(error)) { q.Enqueue(background, Tuple{core.Scalar(int64(p*each + i))}, done) })
			}
		})
	}
	for range 2 {
		all.Go(func() { changeOnesMind(q, &sum, &taken) })
	}
	all.Wait()
	await(func(done func(error)) { q.CloseQueue(background, false, done) })
	consumers.Wait()
	if n := int64(producers * each); taken.Load() != n || sum.Load() != n*(n-1)/2 {
		t.Fatalf("%d elements with sum %d, want %d with %d", taken.Load(), sum.Load(), n, n*(n-1)/2)
	}
}

func await(start func(done func(error))) error {
	c := make(chan error, 1)
	start(func(err error) { c <- err })
	return <-c
}

// consume takes batches until the queue is closed and empty.
func consume(q *Queue, sum, taken *atomic.Int64) {
	for {
		err := await(func(done func(error)) {
			q.DequeueMany(background, 7, true, func(t Tuple, err error) { count(t, sum, taken); done(err) })
		})
		if err != nil {
			return
		}
	}
}

// changeOnesMind cancels dequeues, which may be served all the same.
func changeOnesMind(q *Queue, sum, taken *atomic.Int64) {
	for range 200 {
		ctx, cancel := context.WithCancel(background)
		_ = await(func(done func(error)) {
			q.DequeueMany(ctx, 3, false, func(t Tuple, err error) { count(t, sum, taken); done(err) })
			cancel()
		})
		cancel()
	}
}

func count(t Tuple, sum, taken *atomic.Int64) {
	if len(t) == 0 {
		return
	}
	for _, v := range core.Data[int64](t[0]) {
		sum.Add(v)
		taken.Add(1)
	}
}

func TestShuffleKeepsAMinimum(t *testing.T) {
	q := mustNew(t, Spec{Kind: RandomShuffle, Name: "q", Capacity: 10, MinAfterDequeue: 3, Types: []core.DType{core.Int64}, Shapes: []core.Shape{{}}})
	put(t, q, vector[int64](1, 2, 3))
	var a answer
	if q.Dequeue(background, a.take); a.done {
		t.Fatal("the minimum was touched")
	}
	put(t, q, vector[int64](4))
	if !a.done || q.Size() != 3 {
		t.Fatal(a, q.Size())
	}
	q.Close()
	if got := takeN(t, q, 3, false); len(got.ints()) != 3 {
		t.Fatal("a closed queue keeps nothing", got)
	}
}

// TestShuffleOrder has TensorFlow's order for the seeds (87654321, 7).
func TestShuffleOrder(t *testing.T) {
	q := mustNew(t, Spec{Kind: RandomShuffle, Name: "q", Capacity: 100, Seed: 87654321, Seed2: 7, Types: []core.DType{core.Int64}, Shapes: []core.Shape{{}}})
	var in []int64
	for i := range int64(20) {
		in = append(in, i)
	}
	put(t, q, vector(in...))
	want := []int64{7, 4, 19, 15, 0, 8, 10, 11, 14, 6, 16, 1, 12, 3, 17, 5, 2, 18, 13, 9}
	if got := takeN(t, q, 20, false); !slices.Equal(got.ints(), want) {
		t.Fatalf("%v, want %v", got.ints(), want)
	}
}

// TestPriorityOrder has TensorFlow's order, also of equal priorities.
func TestPriorityOrder(t *testing.T) {
	q := mustNew(t, Spec{Kind: Priority, Name: "q", Capacity: 100, Types: []core.DType{core.Int64, core.Int64}, Shapes: []core.Shape{{}, {}}})
	put(t, q, vector[int64](3, 1, 2, 1, 1, 3, 2, 2, 1, 3), vector[int64](0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	got := takeN(t, q, 10, false)
	if want := []int64{1, 3, 4, 8, 2, 6, 7, 5, 0, 9}; !slices.Equal(got.ints(), want) {
		t.Fatalf("%v, want %v", got.ints(), want)
	}
}

func TestPriorityWaitsForWholeBatches(t *testing.T) {
	q := mustNew(t, Spec{Kind: Priority, Name: "q", Capacity: 100, Types: []core.DType{core.Int64}, Shapes: []core.Shape{{}}})
	var a answer
	q.DequeueMany(background, 3, false, a.take)
	put(t, q, vector[int64](5, 4))
	put(t, q, vector[int64](1))
	if !slices.Equal(a.ints(), []int64{1, 4, 5}) {
		t.Fatal(a.ints())
	}
}

func TestPadding(t *testing.T) {
	q := mustNew(t, Spec{Kind: PaddingFIFO, Name: "q", Capacity: 10, Types: []core.DType{core.Float32, core.String}, Shapes: []core.Shape{{-1, 2}, {-1}}})
	small, _ := core.FromSlice([]float32{1, 2}, 1, 2)
	large, _ := core.FromSlice([]float32{3, 4, 5, 6}, 2, 2)
	for _, e := range []Tuple{{small, vector("a", "b")}, {large, vector[string]()}} {
		if err := await(func(done func(error)) { q.Enqueue(background, e, done) }); err != nil {
			t.Fatal(err)
		}
	}
	got := takeN(t, q, 2, false)
	if want := []float32{1, 2, 0, 0, 3, 4, 5, 6}; !slices.Equal(core.Data[float32](got.t[0]), want) || !got.t[0].Shape().Equal(core.Shape{2, 2, 2}) {
		t.Fatal(got.t[0])
	}
	if want := []string{"a", "b", "", ""}; !slices.Equal(core.Data[string](got.t[1]), want) {
		t.Fatal(got.t[1])
	}
	if none := takeN(t, q, 0, false); !none.t[0].Shape().Equal(core.Shape{0, 0, 2}) {
		t.Fatal(none.t[0])
	}
}

func TestRefusedElements(t *testing.T) {
	typed := Spec{Kind: FIFO, Name: "q", Capacity: 9, Types: []core.DType{core.Int64, core.Float32}, Shapes: []core.Shape{{}, {2}}}
	free := Spec{Kind: FIFO, Name: "q", Capacity: 9, Types: []core.DType{core.Int64, core.Float32}}
	one, pair, three := core.Scalar[int64](1), vector[float32](1, 2), vector[float32](1, 2, 3)
	for want, tc := range map[string]struct {
		spec Spec
		many bool
		in   Tuple
	}{
		"Wrong number of components in tuple. Expected 2, got 1":                                               {typed, false, Tuple{one}},
		"Type mismatch in tuple component 1. Expected float, got int64":                                        {typed, false, Tuple{one, one}},
		"Shape mismatch in tuple component 1. Expected [2], got [3]":                                           {typed, false, Tuple{one, three}},
		"Shape mismatch in tuple component 1. Expected [1,2], got [3]":                                         {typed, true, Tuple{vector[int64](1), three}},
		"a batch of elements must have at least one dimension: component 0 is a scalar":                        {typed, true, Tuple{one, pair}},
		"All input tensors must have the same size in the 0th dimension. Component 1 has 3, and should have 1": {free, true, Tuple{vector[int64](1), three}},
	} {
		q, add := mustNew(t, tc.spec), (*Queue).Enqueue
		if tc.many {
			add = (*Queue).EnqueueMany
		}
		var a answer
		add(q, background, tc.in, a.put)
		if core.CodeOf(a.err) != core.InvalidArgument || core.AsError(a.err).Message() != want {
			t.Errorf("%v\nwant %s", a.err, want)
		}
	}
	var a answer
	mustNew(t, free).DequeueMany(background, 1, false, a.take)
	if a.err == nil || !strings.Contains(a.err.Error(), "FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified shapes.") {
		t.Error(a.err)
	}
}
