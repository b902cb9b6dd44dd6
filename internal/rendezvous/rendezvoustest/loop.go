package rendezvoustest

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Loop is a transport between managers of the same process. Like a network
// it copies elements to memory that the receiver allocates. The zero Loop has
// no tasks.
type Loop struct {
	mu    sync.Mutex
	tasks map[string]*rendezvous.Manager
}

// Join makes m answer for a task.
func (l *Loop) Join(task string, m *rendezvous.Manager) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tasks == nil {
		l.tasks = map[string]*rendezvous.Manager{}
	}
	l.tasks[task] = m
}

// Recv implements rendezvous.Transport.
func (l *Loop) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	l.mu.Lock()
	m := l.tasks[task]
	l.mu.Unlock()
	if m == nil {
		done(rendezvous.Result{Err: core.Errorf(core.NotFound, "a task must have joined to be asked, %s has not", task)})
		return
	}
	m.RecvLocal(ctx, step, key, func(t *core.Tensor, dead bool, err error) {
		res := rendezvous.Result{Dead: dead, Err: err}
		if t != nil && !dead {
			res.Tensor, res.Err = carry(t, alloc)
		}
		if t != nil {
			t.Release()
		}
		done(res)
	})
}

// carry copies t to the receiver's memory, objects to Go's.
func carry(t *core.Tensor, alloc rendezvous.Alloc) (*core.Tensor, error) {
	if t.Buffer() == nil {
		return t.Clone(), nil
	}
	buf, err := alloc(t.DType(), t.Shape())
	if err != nil {
		return nil, err
	}
	copy(buf.Bytes(), t.Buffer().Bytes())
	return core.TensorOf(t.DType(), t.Shape(), buf), nil
}
