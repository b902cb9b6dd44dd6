package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A session that brings its own cluster has groups of its own devices, under the
// names that they have there. In TensorFlow tasks know groups by the names only
// that servers were started with, so that such sessions cannot use any.

// ownCollectives returns what does a session's part in collective operations. The
// master's task leads: it is in the session in any case.
func (s *session) ownCollectives(lookup func(string) core.Device, req *pb.CreateWorkerSessionRequest) *collective.Runtime {
	leader := leaderOf(req)
	if leader == s.rdv.Task {
		leader = ""
	}
	peer := func(task string) (collective.Peer, error) {
		p, err := s.memberNow(task)
		if err != nil {
			return nil, err
		}
		return member{p, s.handle}, nil
	}
	return collective.New(collective.Env{Lookup: lookup, Leader: leader, Peer: peer})
}

// leaderOf returns the task of a session's cluster that completes groups: the
// master's, or the first one if the master does not say which it is.
func leaderOf(req *pb.CreateWorkerSessionRequest) string {
	if req.GetMasterTask() != "" {
		return req.GetMasterTask()
	}
	var all []string
	for _, job := range req.GetServerDef().GetCluster().GetJob() {
		for task := range job.GetTasks() {
			all = append(all, core.DeviceSpec{Job: job.GetName(), Replica: 0, Task: int(task), ID: -1}.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all[:min(len(all), 1)], "")
}

// A member is another task of a session's cluster, which is told whose groups are
// meant.
type member struct {
	collective.Peer
	session string
}

func (m member) CompleteGroup(ctx context.Context, req *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	pb.SetSession(req, m.session)
	return m.Peer.CompleteGroup(ctx, req)
}

func (m member) CompleteInstance(ctx context.Context, req *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	pb.SetSession(req, m.session)
	return m.Peer.CompleteInstance(ctx, req)
}

func (m member) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	pb.SetSession(req, m.session)
	return m.Peer.RecvBuf(ctx, req, into)
}
