package queue

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestMemoryComesBack: the queue holds no tensor any more whose values are in it as rows, or
// have left it in a batch, or that it has refused. The pool gets the memory back.
func TestMemoryComesBack(t *testing.T) {
	closed := func(q *Queue) *Queue {
		q.Close()
		return q
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	for name, use := range map[string]func(q *Queue, x *core.Tensor, done func(error)){
		"rows":             func(q *Queue, x *core.Tensor, done func(error)) { q.EnqueueMany(background, Tuple{x}, done) },
		"rows, refused":    func(q *Queue, x *core.Tensor, done func(error)) { closed(q).EnqueueMany(background, Tuple{x}, done) },
		"rows, too late":   func(q *Queue, x *core.Tensor, done func(error)) { q.EnqueueMany(ended, Tuple{x}, done) },
		"element, refused": func(q *Queue, x *core.Tensor, done func(error)) { closed(q).Enqueue(background, Tuple{x}, done) },
		"rows that wait": func(q *Queue, x *core.Tensor, done func(error)) {
			ctx, cancel := context.WithCancel(background)
			q.EnqueueMany(background, Tuple{vector[int64](1, 2, 3, 4, 5, 6)}, func(error) {})
			q.EnqueueMany(ctx, Tuple{x}, done)
			cancel()
		},
		"elements in a batch": func(q *Queue, x *core.Tensor, done func(error)) {
			q.Enqueue(background, Tuple{x}, func(error) {})
			q.DequeueMany(background, 1, false, func(_ Tuple, err error) { done(err) })
		},
	} {
		pool, shapes := memory.NewPool(1<<20), []core.Shape{{}}
		shape := core.Shape{4}
		if strings.HasPrefix(name, "element") {
			shapes = []core.Shape{shape}
		}
		q := mustNew(t, Spec{Kind: FIFO, Name: "q", Capacity: 5, Types: []core.DType{core.Int64}, Shapes: shapes})
		x := core.TensorOf(core.Int64, shape, pool.Get(32))
		came := make(chan error, 1)
		use(q, x, func(err error) { came <- err })
		if err := <-came; err != nil && core.CodeOf(err) != core.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		if !x.Buffer().Sole() {
			t.Errorf("%s: the queue holds the tensor still", name)
		}
		if x.Release(); !invariants.Race && pool.Stats().Idle != 1 {
			t.Errorf("%s: the pool has %d buffers, want 1", name, pool.Stats().Idle)
		}
	}
}
