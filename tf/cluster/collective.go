package cluster

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// newCollectives returns what does the server's part in collective operations.
// Groups are completed by the task that the configuration names, or by each task
// for itself.
func (s *Server) newCollectives(c *Config, devices *device.Set) (*collective.Runtime, error) {
	leader, err := c.leader()
	if err != nil {
		return nil, err
	}
	if leader == s.task {
		leader = ""
	}
	return collective.New(collective.Env{Lookup: devices.Lookup, Leader: leader, Peer: s.members(s.channels)}), nil
}

// leader returns the full name of the task that completes groups; "": each task does.
func (c *Config) leader() (string, error) {
	if c.CollectiveLeader == "" {
		return "", nil
	}
	d, err := tf.ParseDevice(c.CollectiveLeader)
	if err != nil {
		return "", err
	}
	task := taskName(d.Job, d.Task)
	if !slices.Contains(c.Cluster.tasks(), task) {
		return "", tf.Errorf(tf.InvalidArgument, "the task that completes groups must be one of the cluster, got %q", c.CollectiveLeader)
	}
	return task, nil
}

// members finds other tasks as collective operations see them.
func (s *Server) members(ch rpc.WorkerCache) func(task string) (collective.Peer, error) {
	return func(task string) (collective.Peer, error) {
		w, err := ch.Worker(task)
		if err != nil {
			return nil, err
		}
		plain := rpc.PatientWorker{WorkerClient: w, Retries: s.retries}
		if s.verbs != nil && ch == rpc.WorkerCache(s.channels) { // else a session has brought a cluster of its own
			return verbsMember{plain, task, s.verbs}, nil
		}
		return plain, nil
	}
}

// sequences numbers steps that several masters run together. Without a leader there
// are none, and steps need not wait for each other.
func sequences(c *Config, r *collective.Runtime) master.Sequences {
	if c.CollectiveLeader == "" {
		return nil
	}
	return r
}

// RecvBuf waits for a value of a collective operation that another task wants.
func (s *workerService) RecvBuf(ctx context.Context, req *pb.RecvBufRequest) (*rpc.BufferResponse, error) {
	b, err := s.Worker.RecvBuf(ctx, req)
	if err != nil {
		return nil, err
	}
	return &rpc.BufferResponse{Content: b.Content, Sent: b.Sent, RequireAck: b.RequireAck}, nil
}
