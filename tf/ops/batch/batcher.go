package batch

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A batcher collects the rows of requests in batches, one queue apart from
// another, and has them computed by process. Batches that are full or have
// waited long enough are computed some at a time.
type batcher struct {
	limits
	process func(*batch)

	mu      sync.Mutex
	open    map[string]*batch // by queue
	ready   []*batch
	running int
}

// limits are what nodes say of batches.
type limits struct {
	threads, waiting int
	most             int           // rows of a request
	rows             int           // of a batch
	allowed          []int         // numbers of rows to fill batches up to
	patience         time.Duration // how long a batch stays open
	split            bool          // requests may be larger than batches
}

var _ = resource.Declare[*batcher]("tensorflow::BatchResource")

func newLimits(n *core.Node) (limits, error) {
	if err := n.CheckInt32s("num_batch_threads", "max_batch_size", "max_enqueued_batches", "batch_timeout_micros", "allowed_batch_sizes"); err != nil {
		return limits{}, err
	}
	l := limits{
		threads: n.Int("num_batch_threads"), waiting: n.Int("max_enqueued_batches"), most: n.Int("max_batch_size"), allowed: n.Ints("allowed_batch_sizes"),
		patience: time.Duration(n.Int("batch_timeout_micros")) * time.Microsecond, split: n.Bool("enable_large_batch_splitting"),
	}
	for i, size := range l.allowed {
		if i > 0 && size <= l.allowed[i-1] {
			return l, tf.Errorf(tf.InvalidArgument, "allowed_batch_sizes entries must be monotonically increasing")
		}
	}
	l.rows = l.most
	if k := len(l.allowed); k > 0 {
		switch last := l.allowed[k-1]; {
		case !l.split && last != l.most && n.OpName() == "Batch":
			return l, tf.Errorf(tf.InvalidArgument, "final entry in allowed_batch_sizes must equal max_batch_size")
		case !l.split && last != l.most:
			return l, tf.Errorf(tf.InvalidArgument, "final entry in allowed_batch_sizes must equal max_batch_size when enable_large_batch_splitting is False")
		default:
			l.rows = min(last, l.most)
		}
	}
	if l.most < 1 || l.rows < 1 {
		return l, tf.Errorf(tf.InvalidArgument, "max_batch_size must be positive; was %d", l.most)
	}
	return l, nil
}

// padded returns how many rows a batch of n has once it is filled up.
func (l *limits) padded(n int) int {
	for _, size := range l.allowed {
		if size >= n {
			return size
		}
	}
	return n
}

// A task is a request's rows, or a part of them.
type task struct {
	*request
	part int
	in   []*core.Tensor
	rows int
}

// A batch is what is computed together.
type batch struct {
	tasks []*task
	rows  int
	timer *time.Timer
}

// add puts a request into batches of a queue.
func (b *batcher) add(queue string, r *request) error {
	parts := b.parts(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting > 0 && len(b.ready) >= b.waiting {
		return tf.Errorf(tf.Unavailable, "The batch scheduling queue to which this task was submitted is full; currently %d batches enqueued and max_enqueued_batches is %d", len(b.ready), b.waiting)
	}
	for _, t := range parts {
		o := b.open[queue]
		if o != nil && o.rows+t.rows > b.rows {
			b.shut(queue, o)
			o = nil
		}
		if o == nil {
			o = &batch{}
			b.open[queue] = o
			o.timer = time.AfterFunc(b.patience, func() { b.expire(queue, o) })
		}
		o.tasks, o.rows = append(o.tasks, t), o.rows+t.rows
		if o.rows == b.rows {
			b.shut(queue, o)
		}
	}
	return nil
}

// parts cuts the rows of r into tasks that fit into a batch.
func (b *batcher) parts(r *request) []*task {
	n := (r.rows + b.rows - 1) / b.rows
	r.expect(n)
	if n == 1 {
		return []*task{{r, 0, r.in, r.rows}}
	}
	var out []*task
	for k := range n {
		lo, hi := k*b.rows, min((k+1)*b.rows, r.rows)
		t := &task{request: r, part: k, rows: hi - lo}
		for _, x := range r.in {
			t.in = append(t.in, rowsOf(x, lo, hi))
		}
		out = append(out, t)
	}
	return out
}

// expire shuts a batch that has waited long enough.
func (b *batcher) expire(queue string, o *batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[queue] == o {
		b.shut(queue, o)
	}
}

// shut takes an open batch out of its queue, to be computed. The lock is held.
func (b *batcher) shut(queue string, o *batch) {
	o.timer.Stop()
	delete(b.open, queue)
	b.ready = append(b.ready, o)
	if b.threads <= 0 || b.running < b.threads {
		b.running++
		go b.work()
	}
}

// work computes batches until none is left.
func (b *batcher) work() {
	for {
		b.mu.Lock()
		if len(b.ready) == 0 {
			b.running--
			b.mu.Unlock()
			return
		}
		o := b.ready[0]
		b.ready = b.ready[1:]
		b.mu.Unlock()
		if err := core.Guard("a batch", func() error { b.process(o); return nil }); err != nil {
			o.fail(err)
		}
	}
}

// A request is one step's. It is answered once: by the batches that its rows are
// in, or, when its step is over before, by that.
type request struct {
	c    *core.OpContext
	in   []*core.Tensor // its own references
	rows int
	id   int64

	step      context.Context
	f         core.Func      // that is computed of the batch; none for an op that hands it out
	captured  []*core.Tensor // what a function takes besides
	functions core.FunctionCaller

	mu      sync.Mutex
	done    func(error) // nil once it has been answered
	results [][]*core.Tensor
	left    int // parts without a result
	stop    func() bool
}

// newRequest makes a request of the first n inputs.
func newRequest(c *core.OpContext, n int, done func(error)) *request {
	r := &request{c: c, done: done, rows: c.Input(0).Dim(0)}
	for i := range n {
		r.in = append(r.in, c.Input(i).Share())
	}
	for i := n; i < c.Inputs(); i++ {
		r.captured = append(r.captured, c.Input(i).Share())
	}
	if r.step = c.StepContext(); c.Functions != nil {
		r.functions = c.Functions.Lasting()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = context.AfterFunc(r.step, func() {
		r.answer(func() error {
			return &tf.Error{Code: tf.Canceled, Msg: "the step is over", Err: context.Cause(r.step), Derived: true}
		})
	})
	return r
}

func (r *request) expect(parts int) { r.results, r.left = core.Make[[]*core.Tensor](parts), parts }

// answer ends the request, unless that has been done. set sets its outputs.
func (r *request) answer(set func() error) {
	r.mu.Lock()
	done, stop := r.done, r.stop
	r.done = nil
	r.mu.Unlock()
	if done == nil {
		return
	}
	stop()
	done(core.Guard("the results of a batch", set))
}

// give sets the results of a task. When all parts have theirs, the request is
// answered with the rows of all.
func (t *task) give(out []*core.Tensor) {
	t.mu.Lock()
	t.results[t.part] = out
	t.left--
	last := t.left == 0
	t.mu.Unlock()
	if !last {
		return
	}
	t.answer(func() error {
		all := make([]*core.Tensor, len(out))
		for i := range all {
			var parts []*core.Tensor
			for _, r := range t.results {
				parts = append(parts, r[i])
			}
			var err error
			if all[i], err = joined(parts, 0); err != nil {
				return err
			}
		}
		return t.c.SetAll(all)
	})
}

// fail answers all requests of a batch with err.
func (o *batch) fail(err error) {
	for _, t := range o.tasks {
		t.answer(func() error { return err })
	}
}
