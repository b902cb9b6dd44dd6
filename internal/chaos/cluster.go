package chaos

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A task is a worker, and a master for its clients.
type task struct {
	worker *worker.Worker
	master *master.Master
}

// A Cluster is the tasks of a plan over its network.
type Cluster struct {
	*Network
	number map[string]int // of tasks by name
	names  []string
	ends   sync.WaitGroup // of tasks that have died
}

// Start starts all tasks of a plan. Stop ends them.
func Start(p *Plan) (*Cluster, error) {
	c := &Cluster{Network: newNetwork(p), number: map[string]int{}}
	for i := range p.Tasks {
		c.number[p.name(i)] = i
		c.names = append(c.names, p.name(i))
	}
	for i := range p.Tasks {
		if err := c.start(i); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// start gives a task a life.
func (c *Cluster) start(i int) error {
	name := c.names[i]
	spec, err := core.ParseDevice(name)
	if err != nil {
		return err
	}
	devices := device.CPUs(spec.Job, spec.Task, 1)
	view := &view{c, i}
	t := &task{worker: worker.New(worker.Env{Task: name, Devices: devices, Rendezvous: rendezvous.NewManager(0), Transport: view, Threads: 1})}
	t.master = master.New(master.Env{Task: name, Devices: devices, Workers: &own{view, t.worker}})
	l := &life{task: t}
	l.ctx, l.end = context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lives[i] = l
	return nil
}

// kill ends a task's life: what waits for it notices at once.
func (c *Cluster) kill(i int) {
	c.mu.Lock()
	l := c.lives[i]
	c.lives[i] = nil
	c.mu.Unlock()
	if l == nil {
		return
	}
	l.end(unavailable("the task has died"))
	c.ends.Go(func() {
		l.master.Close()
		l.worker.Close()
	})
}

// Stop ends all tasks, and waits for what is left of them.
func (c *Cluster) Stop() {
	for i := range c.names {
		c.kill(i)
	}
	c.ends.Wait()
}

// Follow makes happen what the plan says, and heals all in the end.
func (c *Cluster) Follow() error {
	began := time.Now()
	var faults sync.WaitGroup
	errs := make(chan error, len(c.plan.Events))
	for _, e := range c.plan.Events {
		faults.Go(func() {
			time.Sleep(e.At - time.Since(began))
			if err := c.happen(e); err != nil {
				errs <- err
			}
		})
	}
	faults.Wait()
	close(errs)
	return <-errs
}

// happen is one fault, from its beginning to its end.
func (c *Cluster) happen(e Event) error {
	if e.Kind == Kill {
		c.kill(e.Task)
		time.Sleep(e.For)
		c.mu.Lock()
		dead := c.lives[e.Task] == nil
		c.mu.Unlock()
		if dead {
			return c.start(e.Task)
		}
		return nil
	}
	ways := c.ways(e)
	for _, w := range ways {
		c.part(w, +1)
	}
	time.Sleep(e.For)
	for _, w := range ways {
		c.part(w, -1)
	}
	return nil
}

// ways returns what a fault cuts.
func (c *Cluster) ways(e Event) (out []way) {
	for peer := range c.names {
		if peer == e.Task || e.Peer >= 0 && peer != e.Peer {
			continue
		}
		out = append(out, way{e.Task, peer})
		if e.Kind == Cut {
			out = append(out, way{peer, e.Task})
		}
	}
	return out
}

// A view is the cluster as one task sees it.
type view struct {
	c    *Cluster
	from int
}

// Recv makes the view a transport of tensors.
func (v *view) Recv(ctx context.Context, task string, step int64, key string, _ rendezvous.Alloc, done func(rendezvous.Result)) {
	go func() {
		req := &pb.RecvTensorRequest{StepId: step, RendezvousKey: key, RequestId: requestid.New()}
		got, err := call(ctx, v.c.Network, way{v.from, v.c.number[task]}, "RecvTensor", func(ctx context.Context, l *life) (worker.Received, error) {
			return l.worker.RecvTensor(ctx, req)
		})
		done(rendezvous.Result{Tensor: got.Tensor, Dead: got.Dead, Err: err})
	}()
}

// own is the cluster as the master of a task sees it, whose own worker is not behind
// the network.
type own struct {
	*view
	worker *worker.Worker
}

// Tasks returns the names of all tasks.
func (o *own) Tasks() []string { return o.c.names }

// Worker returns the worker of a task.
func (o *own) Worker(task string) (master.Worker, error) {
	to, ok := o.c.number[task]
	switch {
	case !ok:
		return nil, core.Errorf(core.NotFound, "the cluster has no task %s", task)
	case to == o.from:
		return o.worker, nil
	}
	return &remote{o.c.Network, way{o.from, to}}, nil
}
