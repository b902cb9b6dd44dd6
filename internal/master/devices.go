package master

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ListDevices lists the devices of a session, or of the whole cluster.
func (m *Master) ListDevices(ctx context.Context, req *pb.ListDevicesRequest) (*pb.ListDevicesResponse, error) {
	if req.GetSessionHandle() == "" {
		return m.allDevices(ctx)
	}
	s := m.lookup(req.GetSessionHandle())
	if s == nil {
		return nil, core.Errorf(core.InvalidArgument, "Session %s is not found. Possibly, this master has restarted.", req.GetSessionHandle())
	}
	resp := &pb.ListDevicesResponse{}
	if s.cluster.def != nil {
		resp.LocalDevice, resp.RemoteDevice = s.clientFirst()
		return resp, nil
	}
	local, remote := sortDevices(s.members, s.cluster.own)
	resp.LocalDevice = append(remote, local...) // all of them, as TensorFlow has it
	return resp, nil
}

func (m *Master) allDevices(ctx context.Context) (*pb.ListDevicesResponse, error) {
	members, err := m.allTasks(ctx, nil)
	if err != nil {
		return nil, err
	}
	resp := &pb.ListDevicesResponse{}
	resp.LocalDevice, resp.RemoteDevice = sortDevices(members, m.env.Task)
	return resp, nil
}

// allTasks finds the tasks that filters describe.
func (m *Master) allTasks(ctx context.Context, filters []string) ([]member, error) {
	if err := m.start(); err != nil {
		return nil, err
	}
	defer m.background.Done()
	ctx, cancel := m.within(ctx)
	defer cancel()
	f, err := parseFilters(filters)
	if err != nil {
		return nil, err
	}
	return discover(ctx, m.env.Workers, f.tasks(m.env.Workers.Tasks(), m.env.Task), m.env.Log)
}

// clientFirst tells the client's device from all others: what TensorFlow does
// for sessions that bring their own cluster.
func (s *session) clientFirst() (client, others []*pb.DeviceAttributes) {
	for _, m := range s.members {
		for _, d := range m.devices {
			if d.GetName() == s.cluster.client {
				client = append(client, d)
			} else {
				others = append(others, d)
			}
		}
	}
	return client, others
}

// sortDevices tells a task's own devices from those of others.
func sortDevices(members []member, own string) (local, remote []*pb.DeviceAttributes) {
	for _, x := range members {
		if x.task == own {
			local = append(local, x.devices...)
		} else {
			remote = append(remote, x.devices...)
		}
	}
	return local, remote
}

// Reset closes all sessions of the master and clears containers of all workers.
func (m *Master) Reset(ctx context.Context, req *pb.ResetRequest) (*pb.ResetResponse, error) {
	if _, err := parseFilters(req.GetDeviceFilters()); err != nil {
		return nil, err // and all sessions go on
	}
	if err := m.closeSessions(); err != nil {
		return nil, err
	}
	members, err := m.allTasks(ctx, req.GetDeviceFilters())
	if err != nil {
		return nil, err
	}
	err = each(ctx, members, func(ctx context.Context, x *member) error {
		_, err := x.worker.CleanupAll(ctx, &pb.CleanupAllRequest{Container: req.GetContainer()})
		return err
	})
	return &pb.ResetResponse{}, err
}

func (m *Master) closeSessions() error {
	if err := m.start(); err != nil {
		return err
	}
	defer m.background.Done()
	m.mu.Lock()
	all := m.sessions
	m.sessions = map[string]*session{}
	m.mu.Unlock()
	var wg sync.WaitGroup // a worker that does not answer holds each of them up
	for _, s := range all {
		wg.Go(s.close)
	}
	wg.Wait()
	return nil
}
