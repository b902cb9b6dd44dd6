package verbs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// errNoVerbs is in the error of a receive from a task without RDMA.
var errNoVerbs = errors.New("no verbs")

func noVerbs(task string) error {
	return &core.Error{Code: core.Unimplemented, Msg: "tensors from " + task + " cannot be received by RDMA: it is not a server with protocol grpc+verbs", Err: errNoVerbs}
}

// plainTasks are those that are known not to speak RDMA. It is safe for
// concurrent use.
type plainTasks struct {
	mu    sync.Mutex
	until map[string]time.Time // when to ask again: a task may come back with RDMA
}

const plainFor = time.Minute

func (p *plainTasks) add(task string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil {
		p.until = map[string]time.Time{}
	}
	p.until[task] = time.Now().Add(plainFor)
}

func (p *plainTasks) has(task string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.until[task])
}

// orPlain returns a done function that receives by the other transport if there
// turns out to be no RDMA.
func (m *Manager) orPlain(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) func(rendezvous.Result) {
	return func(r rendezvous.Result) {
		if r.Err == nil || !errors.Is(r.Err, errNoVerbs) {
			done(r)
			return
		}
		if !m.plain.has(task) {
			m.adapter.config.Log.Warn("a task does not speak RDMA, its tensors come by gRPC", "peer", task)
			m.plain.add(task)
		}
		m.opts.Fallback.Recv(ctx, task, step, key, alloc, done)
	}
}
