package verbs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An Exchanger asks a task for the address of its channel to this one, by some
// other way than RDMA. It may wait for the task to be there until ctx ends.
type Exchanger interface {
	GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error)
}

// Options say what a manager's task is and which peers it has.
type Options struct {
	Config
	Task      string   // "/job:worker/replica:0/task:1"
	Peers     []string // the cluster's other tasks
	Serve     Serve    // what this task sends
	Exchanger Exchanger
	// MaxTensor bounds the bytes of a tensor that this task receives, since
	// room is made for it on the peer's word; 0: 16 GiB.
	MaxTensor int
	// Fallback receives from tasks that do not speak RDMA; nil: that is an error.
	Fallback rendezvous.Transport
}

const defaultMaxTensor = 16 << 30

// A Manager has the channels of a task, makes them when they are first needed
// and again after they were lost. It is the task's [rendezvous.Transport] and
// answers for it when peers ask for addresses. It is safe for concurrent use.
type Manager struct {
	opts    Options
	adapter *Adapter
	cache   metaCache
	plain   plainTasks
	wg      sync.WaitGroup // of exchanges of addresses, of the ends of channels that were replaced, and of the keepalive
	stop    chan struct{}  // closed by Close

	mu           sync.Mutex
	channels     map[string]*Channel     // by task
	incarnations map[string]incarnations // of peers, by task
	closed       bool
}

// NewManager puts dev, which it owns from then on, to use.
func NewManager(dev Device, o Options) (*Manager, error) {
	o.Channels = max(o.Channels, len(o.Peers))
	if o.MaxTensor <= 0 {
		o.MaxTensor = defaultMaxTensor
	}
	a, err := NewAdapter(dev, o.Config)
	if err != nil {
		return nil, err
	}
	a.config.Log.Info("tensors between tasks go by RDMA", "device", dev.Attributes().Name, "transport", dev.Attributes().Detail, "generation", a.config.Generation)
	m := &Manager{opts: o, adapter: a, channels: map[string]*Channel{}, incarnations: map[string]incarnations{}, stop: make(chan struct{})}
	m.wg.Go(func() { m.runKeepalive(m.stop) })
	return m, nil
}

// Recv implements [rendezvous.Transport].
func (m *Manager) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	if m.opts.Fallback != nil {
		if m.plain.has(task) {
			m.opts.Fallback.Recv(ctx, task, step, key, alloc, done)
			return
		}
		done = m.orPlain(ctx, task, step, key, alloc, done)
	}
	c, err := m.channel(task)
	if err != nil {
		done(rendezvous.Result{Err: err})
		return
	}
	c.recv(ctx, step, key, alloc, done)
}

// Alloc returns an allocator that takes memory from where peers write to, as
// long as there is some, and then from next.
func (m *Manager) Alloc(next rendezvous.Alloc) rendezvous.Alloc { return m.adapter.Alloc(next) }

// channel returns the channel to a task, which may not be connected yet.
func (m *Manager) channel(task string) (*Channel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.channels[task]; c != nil && c.over() == nil {
		return c, nil
	}
	c, err := m.open(task)
	if err != nil {
		return nil, err
	}
	m.wg.Go(func() { m.exchangeAddress(c) })
	return c, nil
}

func (m *Manager) hasPeer(task string) bool { return slices.Contains(m.opts.Peers, task) }

// open makes a new channel to a task in place of the one that it had. The queue pair of
// that is destroyed first: the adapter's completion queue has room for what a channel of
// each peer can complete, and is lost to all of them if more come.
func (m *Manager) open(task string) (*Channel, error) {
	switch {
	case m.closed:
		return nil, errShutDown
	case !m.hasPeer(task):
		return nil, core.Errorf(core.NotFound, "RDMA connects the tasks of a cluster, %q is none of the peers of %s", task, m.opts.Task)
	}
	if old := m.channels[task]; old != nil {
		moved := unavailable(task, errMoved)
		old.fail(moved)
		m.wg.Go(func() { old.close(moved) })
	}
	c, err := newChannel(m.adapter, task, m.opts.Serve, &m.cache, m.opts.MaxTensor)
	if err != nil {
		return nil, core.Errorf(core.Unavailable, "%v", err)
	}
	m.channels[task] = c
	return c, nil
}

var errShutDown = core.Errorf(core.Unavailable, "the RDMA connections of this task have been closed")

// exchangeAddress asks the peer of a channel for its address.
func (m *Manager) exchangeAddress(c *Channel) {
	self := c.endpoint()
	resp, err := m.opts.Exchanger.GetRemoteAddress(c.ctx, c.peer, &pb.GetRemoteAddressRequest{
		HostName: m.opts.Task, Channel: self.channel(), Mr: self.regions(), Hello: self.hello.message(),
	})
	if core.CodeOf(err) == core.Unimplemented {
		err = noVerbs(c.peer)
	}
	var remote endpoint
	if err == nil {
		remote, err = parseEndpoint(c.peer, resp.GetChannel(), resp.GetMr(), resp.GetHello(), m.adapter.config.Generation)
	}
	if err == nil {
		err = m.admit(c.peer, remote.incarnation)
	}
	if err == nil {
		err = c.connect(remote, false)
	}
	if err != nil {
		c.fail(err)
	}
}

// GetRemoteAddress connects the channel to the task that asks, and tells it
// where that channel is. A task that comes back from elsewhere gets a new one.
func (m *Manager) GetRemoteAddress(_ context.Context, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	remote, err := parseEndpoint(req.GetHostName(), req.GetChannel(), req.GetMr(), req.GetHello(), m.adapter.config.Generation)
	if err != nil {
		return nil, err
	}
	c, err := m.channelFor(req.GetHostName(), remote)
	if err != nil {
		return nil, err
	}
	if err := c.connect(remote, true); err != nil {
		c.fail(err)
		return nil, err
	}
	self := c.endpoint()
	return &pb.GetRemoteAddressResponse{HostName: m.opts.Task, Channel: self.channel(), Mr: self.regions(), Hello: self.hello.message()}, nil
}

// admit is admitLocked for a caller that does not hold the lock.
func (m *Manager) admit(task string, incarnation uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.admitLocked(task, incarnation)
}

// channelFor returns the channel that is or can be connected to a queue pair
// of a task.
func (m *Manager) channelFor(task string, remote endpoint) (*Channel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.admitLocked(task, remote.incarnation); err != nil {
		return nil, err
	}
	if c := m.channels[task]; c != nil && c.knows(remote) {
		return c, nil
	}
	return m.open(task)
}

// Close closes all channels, with whatever waits on them, and the device.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	close(m.stop)
	all := m.channels
	m.mu.Unlock()
	for _, c := range all {
		c.close(errShutDown)
	}
	m.wg.Wait()
	if err := m.adapter.Close(); err != nil {
		return errors.Join(core.Errorf(core.Internal, "the RDMA device of %s did not close cleanly", m.opts.Task), err)
	}
	return nil
}
