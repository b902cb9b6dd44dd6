package eagerservice

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Peer is the eager service of another task, as functions use it that have parts
// there.
type Peer interface {
	Enqueue(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error)
	RunComponentFunction(context.Context, *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error)
}

// Peers finds them.
type Peers interface {
	Peer(task string) (Peer, error)
	Close()
}

// A cluster is what a context knows of the other tasks.
type cluster struct {
	peers   Peers
	devices map[string]*pb.DeviceAttributes // of all tasks, by name
}

// join makes the context part of a cluster.
func (c *Context) join(def *pb.ServerDef, devices []*pb.DeviceAttributes) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.joinLocked(def, devices)
}

func (c *Context) joinLocked(def *pb.ServerDef, devices []*pb.DeviceAttributes) error {
	next := cluster{devices: make(map[string]*pb.DeviceAttributes, len(devices))}
	for _, d := range devices {
		next.devices[d.GetName()] = d
	}
	if c.connect != nil {
		var err error
		if next.peers, err = c.connect(def.GetCluster()); err != nil {
			return err
		}
	}
	if c.left != nil {
		c.left.Close()
	}
	c.left, c.cluster = c.cluster.peers, next
	c.spreads.forget("") // which are made for the devices that there were
	return nil
}

// peer returns the eager service of another task.
func (c *Context) peer(task string) (Peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cluster.peers == nil {
		return nil, core.Errorf(core.Unimplemented, "a function must run in one task here, a part of it is for %s", task)
	}
	return c.cluster.peers.Peer(task)
}

// knows reports whether there is such a device in the cluster.
func (c *Context) knows(device string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster.devices[device] != nil
}
