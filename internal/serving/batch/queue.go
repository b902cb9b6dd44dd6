package batch

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Runner runs a batch.
type Runner func(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error)

// A Queue joins requests to one signature of a model. It may be used from any
// goroutine. Goroutines run only while there is something to do.
//
// A queue with a batch to run asks its threads for one of them. If none is free, the
// queue waits in line, and requests still join the batch; it is chosen when a thread
// comes.
type Queue struct {
	p       Params
	run     Runner
	note    func(size, requests int) // told of each batch
	threads *Threads

	mu      sync.Mutex // before that of threads
	pending pending
	running int // batches that run
	timer   *time.Timer
	work    sync.WaitGroup
	drained chan struct{} // closed when the queue is closed and has nothing left
}

// request is one call of Run.
type request struct {
	ctx  context.Context
	want []string
	// parts are what the request is run in: one, or several if it is split.
	parts []part
	left  int           // parts that have not been answered; the queue's mu guards it
	done  chan struct{} // closed when none is left
}

type part struct {
	in  map[string]*tf.Tensor
	out map[string]*tf.Tensor
	err error
}

// NewQueue returns a queue whose batches run on threads that it shares with other
// queues; nil: on its own. Note may be nil. Close ends it.
func NewQueue(threads *Threads, p Params, run Runner, note func(size, requests int)) *Queue {
	p = p.withDefaults()
	if note == nil {
		note = func(int, int) {}
	}
	if threads == nil {
		threads = NewThreads(p.Threads)
	}
	return &Queue{p: p, run: run, note: note, threads: threads, pending: pending{p: p, free: memory.Free}, drained: make(chan struct{})}
}

// Run runs a request, with others if it can. Errors are InvalidArgument for one
// that is too large, Unavailable when too many wait, ResourceExhausted when its
// deadline comes while it waits, and what running the batch gives.
func (q *Queue) Run(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
	rows, ok := rowsOf(in)
	if !ok {
		return q.run(ctx, in, want)
	}
	if rows > q.p.MaxSize {
		return nil, tf.Errorf(tf.InvalidArgument, "Task size %d is larger than maximum input batch size %d", rows, q.p.MaxSize)
	}
	r := &request{ctx: ctx, want: want, done: make(chan struct{})}
	tasks := q.split(r, in, rows)
	if err := q.add(tasks); err != nil {
		return nil, err
	}
	select {
	case <-r.done:
		return r.result()
	case <-ctx.Done():
		return q.giveUp(r)
	}
}

// giveUp ends a request whose context has ended. One that waits goes; one that runs
// already is answered by what runs it, but the answer is not awaited.
func (q *Queue) giveUp(r *request) (map[string]*tf.Tensor, error) {
	q.mu.Lock()
	waiting := q.pending.drop(r)
	q.checkDrained()
	q.mu.Unlock()
	if waiting && errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
		return nil, tf.Errorf(tf.ResourceExhausted, "Run() timeout exceeded while waiting in batching queue")
	}
	return nil, tf.AsError(r.ctx.Err())
}

// split makes the tasks of a request.
func (q *Queue) split(r *request, in map[string]*tf.Tensor, rows int) (tasks []*task) {
	key := keyOf(in, r.want, q.p.Pad)
	now := time.Now()
	for begin := 0; begin < rows; begin += q.p.MaxRun {
		n := min(q.p.MaxRun, rows-begin)
		p := part{in: in}
		if n < rows {
			p.in = rowsFrom(in, begin, n)
		}
		tasks = append(tasks, &task{key: key, rows: n, since: now, request: r, part: len(r.parts)})
		r.parts = append(r.parts, p)
	}
	r.left = len(r.parts)
	return tasks
}

func (q *Queue) add(tasks []*task) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.pending.add(tasks); err != nil {
		return err
	}
	q.start()
	return nil
}

// start starts batches while there are threads for them. The caller holds mu.
func (q *Queue) start() {
	for q.running < q.p.Threads {
		ok, wait := q.pending.ready(time.Now())
		if !ok {
			q.wake(wait)
			return
		}
		if !q.threads.take(q) {
			return // the threads call use
		}
		q.launch()
	}
}

// launch runs the batch that is ready on a thread that the queue has taken. The caller
// holds mu.
func (q *Queue) launch() {
	tasks, _ := q.pending.next(time.Now())
	q.running++
	q.work.Go(func() { q.serve(tasks) })
}

// use is called with a thread that the queue has waited for. It reports whether it has
// taken it: what waited may have gone.
func (q *Queue) use() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ok, wait := q.pending.ready(time.Now())
	if !ok || q.running >= q.p.Threads {
		q.wake(wait)
		return false
	}
	q.launch()
	q.start() // for the next batch the queue goes to the end of the line
	return true
}

// wake makes start run again after a time. The caller holds mu.
func (q *Queue) wake(d time.Duration) {
	if d <= 0 {
		return
	}
	if q.timer == nil {
		q.timer = time.AfterFunc(d, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.start()
		})
		return
	}
	q.timer.Reset(d)
}

// serve runs a batch. It goes on with the next one while no other queue waits for the
// thread.
func (q *Queue) serve(tasks []*task) {
	for tasks != nil {
		q.runBatch(tasks)
		tasks = q.after(tasks)
	}
	q.threads.give()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start()
}

// after answers the requests of a batch that has run and returns the next batch for
// its thread. If there is none the thread must be given back.
func (q *Queue) after(tasks []*task) (next []*task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range tasks {
		if t.request.left--; t.request.left == 0 {
			close(t.request.done)
		}
	}
	q.pending.done(tasks)
	var wait time.Duration
	if !q.threads.wanted() {
		next, wait = q.pending.next(time.Now())
	}
	if next == nil {
		q.running--
		q.wake(wait)
		q.checkDrained()
	}
	return next
}

// checkDrained says to Close that nothing is left. The caller holds mu.
func (q *Queue) checkDrained() {
	if !q.pending.closed || q.running > 0 || len(q.pending.tasks) > 0 {
		return
	}
	select {
	case <-q.drained:
	default:
		close(q.drained)
	}
}

// runBatch runs tasks together and leaves each its results. If there is no memory for a
// batch, or no tensor could hold its rows, halves of it run one after the other. A request
// that finds no memory beside other batches, of whatever queue, runs again while no other
// one does.
func (q *Queue) runBatch(tasks []*task) {
	beside, err := q.threads.beside(func() error { return q.runOnce(tasks) })
	if len(tasks) > 1 && (core.Exhausted(err) || errors.As(err, new(*misfit))) {
		half := len(tasks) / 2
		q.runBatch(tasks[:half])
		q.runBatch(tasks[half:])
		return
	}
	if beside && core.Exhausted(err) {
		err = q.threads.alone(func() error { return q.runOnce(tasks) })
	}
	for _, t := range tasks {
		t.request.parts[t.part].err = err
	}
}

// runOnce runs tasks together, leaves each its results, and learns how much memory that
// took.
func (q *Queue) runOnce(tasks []*task) error {
	ctx, cancel := contextOf(tasks)
	defer cancel()
	var meter memory.StepMeter
	outs, err := q.together(memory.WithStepMeter(ctx, &meter), tasks)
	q.learn(tasks, meter.Most(), err)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		t.request.parts[t.part].out = outs[i]
	}
	return nil
}

// learn notes how a batch has ended and what it took.
func (q *Queue) learn(tasks []*task, bytes int64, err error) {
	rows := 0
	for _, t := range tasks {
		rows += t.rows
	}
	rows = q.p.rounded(rows)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err == nil:
		q.pending.appetite.ran(rows, bytes)
	case core.Exhausted(err):
		q.pending.appetite.failed(rows)
	}
}

// together runs tasks together.
func (q *Queue) together(ctx context.Context, tasks []*task) (outs []map[string]*tf.Tensor, err error) {
	defer core.Recover(&err, "a batch")
	want := tasks[0].request.want
	rows := 0
	for _, t := range tasks {
		rows += t.rows
	}
	size := q.p.rounded(rows)
	q.note(size, len(tasks))
	in := tasks[0].request.parts[tasks[0].part].in
	if len(tasks) > 1 || size != rows {
		if in, err = join(tasks, size); err != nil {
			return nil, err
		}
	}
	out, err := q.run(ctx, in, want)
	if err != nil {
		return nil, err
	}
	if len(tasks) == 1 && size == rows {
		if len(tasks[0].request.parts) > 1 { // they are joined later
			err = checkRows(out, size)
		}
		return []map[string]*tf.Tensor{out}, err
	}
	return divide(out, tasks, size)
}

// contextOf returns a context that ends when those of all requests have.
func contextOf(tasks []*task) (context.Context, context.CancelFunc) {
	if len(tasks) == 1 {
		return context.WithCancel(tasks[0].request.ctx)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tasks[0].request.ctx))
	left := len(tasks)
	var mu sync.Mutex
	var stops []func() bool
	for _, t := range tasks {
		stops = append(stops, context.AfterFunc(t.request.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// result returns what a request gets.
func (r *request) result() (map[string]*tf.Tensor, error) {
	for _, p := range r.parts {
		if p.err != nil {
			return nil, p.err
		}
	}
	if len(r.parts) == 1 {
		return r.parts[0].out, nil
	}
	return rejoin(r.parts)
}

// Close waits for the requests that the queue has, without waiting for others to
// join them. Later ones fail.
func (q *Queue) Close() {
	q.mu.Lock()
	q.pending.closed = true
	q.start()
	if q.timer != nil {
		q.timer.Stop()
	}
	q.checkDrained()
	q.mu.Unlock()
	<-q.drained
	q.work.Wait()
}

// keyOf returns what requests must have in common to be joined: outputs, and keys,
// types and shapes of inputs but for dimension 0, of which padding asks only the
// rank.
func keyOf(in map[string]*tf.Tensor, want []string, pad bool) string {
	var b strings.Builder
	b.WriteString(strings.Join(want, "\x00"))
	for _, k := range keys(in) {
		t := in[k]
		b.WriteString("\x01" + k + "\x00" + t.DType().String())
		for _, d := range t.Shape()[1:] {
			if pad {
				d = -1
			}
			b.WriteByte(' ')
			b.WriteString(itoa(d))
		}
	}
	return b.String()
}
