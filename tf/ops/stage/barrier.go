package stage

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A barrier collects the components of tuples, by key. Complete ones wait in a
// queue, those first whose keys came first.
type barrier struct {
	name   string
	types  []tf.DType
	shapes []tf.Shape
	ready  *queue.Queue

	mu         sync.Mutex
	incomplete map[string]tuple // the number of the insertion, then the components
	inserted   int64            // insertions with new keys
	moving     int              // insertions whose tuples are on their way to the queue
	closed     bool
	cancelled  bool // by the op that closed it: incomplete tuples will not be completed
}

var _ = resource.Declare[*barrier]("tensorflow::barrier::Barrier")

func newBarrier(name string, types []tf.DType, shapes []tf.Shape) (*barrier, error) {
	s := queue.Spec{Kind: queue.Priority, Op: "PriorityQueue", Name: name + "_queue", Capacity: -1, Types: append([]tf.DType{tf.Int64, tf.String}, types...)}
	if len(shapes) > 0 {
		s.Shapes = append([]tf.Shape{{}, {}}, shapes...)
	}
	q, err := queue.New(s)
	if err != nil {
		return nil, err
	}
	return &barrier{name: name, types: types, shapes: shapes, ready: q, incomplete: map[string]tuple{}, inserted: math.MinInt64}, nil
}

// matches reports how the barrier differs from what a node expects.
func (b *barrier) matches(types []tf.DType, shapes []tf.Shape) error {
	if !slices.Equal(types, b.types) {
		return tf.Errorf(tf.InvalidArgument, "Shared barrier '%s' has component types %s but requested component types were %s", b.name, typeNames(b.types), typeNames(types))
	}
	if !slices.EqualFunc(shapes, b.shapes, tf.Shape.Equal) {
		return tf.Errorf(tf.InvalidArgument, "Shared barrier '%s' has component shapes %v but requested component shapes were %v", b.name, b.shapes, shapes)
	}
	return nil
}

func typeNames(types []tf.DType) string {
	out := make([]string, len(types))
	for i, d := range types {
		out[i] = d.CName()
	}
	return strings.Join(out, ", ")
}

// insert puts row i of values under keys[i], for all i.
func (b *barrier) insert(ctx context.Context, keys []string, component int, values *core.Tensor) error {
	if len(keys) > 0 && values.Len() == 0 {
		return tf.Errorf(tf.InvalidArgument, "Tensors with no elements are not supported %s: received shape %s", b.name, values.Shape().String())
	}
	parts := core.Make[*core.Tensor](len(keys)) // made without the lock: there may be no memory
	for i := range parts {
		parts[i] = row(values, i)
	}
	complete, err := b.begin(keys, component, parts)
	for _, t := range complete {
		b.ready.Enqueue(ctx, queue.Tuple(t), func(e error) {
			if err == nil {
				err = e
			}
		})
	}
	b.mu.Lock()
	b.moving--
	over := b.over()
	b.mu.Unlock()
	if over {
		b.ready.CloseQueue(ctx, false, func(error) {}) // which may have been done already
	}
	return err
}

// begin adds components and returns the tuples that are complete with them, which are on
// their way to the queue.
func (b *barrier) begin(keys []string, component int, parts []*core.Tensor) ([]tuple, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	complete, err := b.collect(keys, component, parts)
	b.moving++
	return complete, err
}

// over reports whether nothing more will come. The lock is held.
func (b *barrier) over() bool { return b.closed && len(b.incomplete) == 0 && b.moving == 0 }

// collect adds components and returns the tuples that are complete with them.
// The lock is held.
func (b *barrier) collect(keys []string, component int, parts []*core.Tensor) (complete []tuple, err error) {
	if b.closed && (b.cancelled || len(keys) > 0 && len(b.incomplete) == 0) {
		return nil, tf.Errorf(tf.Canceled, "Barrier %s is closed.  Pending enqueues cancelled: %d.  Number of new insertions: %d.  Number of incomplete keys: %d.",
			b.name, digit(b.cancelled), len(keys), len(b.incomplete))
	}
	number, fresh := b.inserted, false
	for i, key := range keys {
		t := b.incomplete[key]
		if t == nil {
			if b.closed {
				return complete, tf.Errorf(tf.Canceled, "Barrier %s is closed, but attempted to insert a brand new key: %s.  Pending enqueues cancelled: %d.  Insertion index: %d.  Number of incomplete keys: %d.",
					b.name, key, digit(b.cancelled), i, len(b.incomplete))
			}
			t = make(tuple, 2+len(b.types))
			t[0], t[1] = core.Scalar(number), core.Scalar(key)
			b.incomplete[key], fresh = t, true
		}
		if t[2+component] != nil {
			return complete, tf.Errorf(tf.InvalidArgument, "Key %s already has a value for component %d in barrier %s", key, component, b.name)
		}
		t[2+component] = parts[i]
		if !slices.Contains(t, nil) {
			delete(b.incomplete, key)
			complete = append(complete, t)
		}
	}
	if fresh {
		b.inserted++
	}
	return complete, nil
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// row returns a copy of row i.
func row(t *core.Tensor, i int) *core.Tensor {
	out := core.NewTensor(t.DType(), t.Shape()[1:])
	rows.Mover(out, t)(0, i*out.Len(), out.Len())
	return out
}

// take gives n tuples to done, or, from a closed barrier, as many as there are if
// small allows it.
func (b *barrier) take(ctx context.Context, n int, small bool, done func(queue.Tuple, error)) {
	b.mu.Lock()
	closed, left := b.closed, b.ready.Size()
	if closed && small {
		n = min(n, left)
	} else if closed {
		left += len(b.incomplete)
	}
	b.mu.Unlock()
	if closed && left < max(n, 1) {
		done(nil, tf.Errorf(tf.OutOfRange, "Barrier '%s' is closed and has insufficient elements (requested %d, total size %d)", b.name, n, left))
		return
	}
	b.ready.DequeueMany(ctx, n, small, done)
}

// close lets no new keys in, and, with cancel, no more components either.
func (b *barrier) close(ctx context.Context, cancel bool, done func(error)) {
	b.mu.Lock()
	if b.closed && (b.cancelled || !cancel) {
		b.mu.Unlock()
		done(tf.Errorf(tf.Canceled, "Barrier '%s' is already closed.", b.name))
		return
	}
	b.closed, b.cancelled = true, cancel
	if cancel {
		clear(b.incomplete)
	}
	over := cancel || b.over()
	b.mu.Unlock()
	if !over {
		done(nil)
		return
	}
	b.ready.CloseQueue(ctx, cancel, func(err error) { done(err) })
}

func (b *barrier) incompleteSize() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.incomplete)
}

// Close ends a barrier that cannot be found any more.
func (b *barrier) Close() { b.ready.Close() }
