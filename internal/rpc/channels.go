package rpc

import (
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf"
)

// Channels holds one channel to each task of a cluster, opened when it is
// first wanted. It is safe for concurrent use.
type Channels struct {
	address func(task string) (string, error)
	options []grpc.DialOption

	mu     sync.Mutex
	open   map[string]*grpc.ClientConn // by task
	closed bool
}

// NewChannels returns the channels to tasks whose "host:port" address finds.
func NewChannels(address func(task string) (string, error), c DialConfig) *Channels {
	return &Channels{address: address, options: DialOptions(c), open: map[string]*grpc.ClientConn{}}
}

// Get returns the channel to a task. It connects when it is first used.
func (c *Channels) Get(task string) (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, tf.Errorf(tf.Canceled, "the channels of this task are closed, asked for %s", task)
	}
	if cc := c.open[task]; cc != nil {
		return cc, nil
	}
	addr, err := c.address(task)
	if err != nil {
		return nil, err
	}
	cc, err := Dial(addr, c.options...)
	if err != nil {
		return nil, err
	}
	c.open[task] = cc
	return cc, nil
}

// Dial returns a channel to the server at "host:port", with the options that
// [DialOptions] gives.
func Dial(addr string, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	cc, err := grpc.NewClient("dns:///"+addr, opts...)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an address must be host:port, got %q: %v", addr, err)
	}
	return cc, nil
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
