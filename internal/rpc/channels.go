package rpc

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Channels holds one channel to each task of a cluster, opened when it is
// first wanted. It is safe for concurrent use.
type Channels struct {
	address func(task string) (string, error)
	config  DialConfig

	mu     sync.Mutex
	open   map[string]*Channel // by task
	closed bool
}

// NewChannels returns the channels to tasks whose "host:port" address finds.
func NewChannels(address func(task string) (string, error), c DialConfig) *Channels {
	return &Channels{address: address, config: c, open: map[string]*Channel{}}
}

// Get returns the channel to a task. It connects when it is first used.
func (c *Channels) Get(task string) (*Channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, core.Errorf(core.Canceled, "the channels of this task are closed, asked for %s", task)
	}
	if cc := c.open[task]; cc != nil {
		return cc, nil
	}
	addr, err := c.address(task)
	if err != nil {
		return nil, err
	}
	cc, err := Dial(addr, c.config)
	if err != nil {
		return nil, err
	}
	cc.task = task
	c.open[task] = cc
	return cc, nil
}

// settleTime is how long Settle waits for a server that does not answer.
const settleTime = maxReconnectDelay

// Settle connects again, at once, with the tasks that could not be reached and are left alone
// for a while: they may have been started again. It waits until they are there, a second at
// most. Tasks that calls reach cost nothing.
func (c *Channels) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	c.settle(ctx)
}

func (c *Channels) settle(ctx context.Context) {
	var waiting sync.WaitGroup
	for _, cc := range c.failing() {
		waiting.Go(func() {
			cc.ResetConnectBackoff()
			cc.WaitForStateChange(ctx, connectivity.TransientFailure) // which ends when it is connected
		})
	}
	waiting.Wait()
}

// failing returns the channels that cannot connect.
func (c *Channels) failing() (list []*Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cc := range c.open {
		if cc.GetState() == connectivity.TransientFailure {
			list = append(list, cc)
		}
	}
	return list
}

// A Channel carries calls to one server: by gRPC, and by links if the server is
// Gorge's.
type Channel struct {
	*grpc.ClientConn
	links *linker
	watch *watch
	acks  acks
	task  string // that the server runs, if that is known
}

// Dial returns a channel to the server at "host:port".
func Dial(addr string, c DialConfig) (*Channel, error) {
	k := orDefault(c.Keepalive)
	ch := &Channel{links: newLinker(addr, c, k), watch: newWatch(addr, k)}
	opts := append(DialOptions(c), grpc.WithContextDialer(ch.watch.dial))
	if !c.NoLinks {
		opts = append(opts, grpc.WithChainUnaryInterceptor(ch.links.intercept))
	}
	opts = append(opts, grpc.WithChainUnaryInterceptor(ch.watch.intercept)) // the innermost
	var err error
	if ch.ClientConn, err = grpc.NewClient("dns:///"+addr, opts...); err != nil {
		return nil, core.Errorf(core.InvalidArgument, "an address must be host:port, got %q: %v", addr, err)
	}
	ch.watch.probe = getStatus(ch.ClientConn)
	return ch, nil
}

// Close ends all calls, and waits for those that the channel makes by itself.
func (c *Channel) Close() error {
	err := c.ClientConn.Close()
	c.watch.close()
	c.links.close()
	c.acks.close()
	return err
}

// Worker returns the client of a task's worker.
func (c *Channels) Worker(task string) (*WorkerClient, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return NewWorkerClient(cc), nil
}

// Master returns the client of a task's master.
func (c *Channels) Master(task string) (*MasterClient, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return NewMasterClient(cc), nil
}

// Eager returns the client of a task's eager service.
func (c *Channels) Eager(task string) (*EagerClient, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return NewEagerClient(cc), nil
}

// GetRemoteAddress asks a task where it can be written to by RDMA. It waits for
// the task to be there.
func (c *Channels) GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return NewVerbsClient(cc).GetRemoteAddress(ctx, req)
}

// Close closes all channels, which ends the calls on them. None is opened
// afterwards.
func (c *Channels) Close() error {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	var errs []error
	for _, cc := range open {
		errs = append(errs, cc.Close())
	}
	return errors.Join(errs...)
}
