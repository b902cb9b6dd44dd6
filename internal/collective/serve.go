package collective

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// What other tasks ask for. The methods are those of TensorFlow's WorkerService.

// CompleteGroup makes a device of another task a member of a group and answers
// when that is complete.
func (r *Runtime) CompleteGroup(ctx context.Context, req *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	if req.GetDeviceAttributes() == nil {
		return nil, core.Errorf(core.Internal, "CompleteGroupRequest device_attributes is not set. Make sure you're running the same version of Tensorflow on all workers.")
	}
	if r.env.Leader != "" && r.groups.find(int(req.GetGroupKey())) == nil {
		leader, err := r.peer(r.env.Leader)
		if err != nil {
			return nil, err
		}
		return leader.CompleteGroup(ctx, req)
	}
	m, err := newMember(req.GetDeviceAttributes(), -1)
	if err != nil {
		return nil, err
	}
	g, err := r.groups.join(ctx, m, wanted{key: int(req.GetGroupKey()), size: int(req.GetGroupSize()), kind: req.GetDeviceType(), rank: -1})
	if err != nil {
		return nil, err
	}
	return g.proto(), nil
}

// CompleteInstance notes what a member says of an instance, and answers when it
// is known which is the source.
func (r *Runtime) CompleteInstance(ctx context.Context, req *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	g := r.groups.find(int(req.GetGroupKey()))
	if g == nil {
		return nil, core.Errorf(core.FailedPrecondition, "group %d not found. This normally means the server has restarted", req.GetGroupKey())
	}
	p, err := partOf(g, req)
	if err != nil {
		return nil, err
	}
	source, err := r.instance(ctx, g, p, req.GetName())
	if err != nil {
		return nil, err
	}
	return &pb.CompleteInstanceResponse{InstanceKey: req.GetInstanceKey(), SourceRank: int32(source)}, nil
}

func partOf(g *group, req *pb.CompleteInstanceRequest) (*part, error) {
	rank := g.rank(req.GetDevice())
	if rank < 0 {
		return nil, core.Errorf(core.InvalidArgument, "Device %s is no member of the group (group_key=%d)", req.GetDevice(), g.key)
	}
	shape := make(core.Shape, len(req.GetShape().GetDim()))
	for i, d := range req.GetShape().GetDim() {
		shape[i] = int(d.GetSize())
	}
	return &part{
		key:  instanceKey{group: g.key, instance: int(req.GetInstanceKey()), step: req.GetStepId()},
		kind: core.CollectiveKind(req.GetType()), dtype: core.DType(req.GetDataType()), shape: shape,
		device: req.GetDevice(), rank: rank, source: req.GetIsSource(),
	}, nil
}

// RecvBuf waits for a value that a device of this task leaves for one of another.
func (r *Runtime) RecvBuf(ctx context.Context, req *pb.RecvBufRequest) (*Loan, error) {
	from, err := r.giver(req.GetSrcDevice(), req.GetSrcIncarnation())
	if err != nil {
		return nil, err
	}
	s := r.acquire(req.GetStepId())
	defer r.release(s)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	ctx, stop := context.WithTimeoutCause(ctx, r.env.Patience, end{core.Errorf(core.Aborted, "Step %d was asked for by another task but not run here within %v", req.GetStepId(), r.env.Patience)})
	defer stop()
	l, err := s.buffers.take(ctx, slot{from, req.GetBufRendezvousKey()})
	if err != nil {
		return nil, err
	}
	if l.value.t.Buffer() == nil {
		l.Return()
		return nil, core.Errorf(core.Internal, "Tensor value for key %s is not of a type supported by RecvBuf", req.GetBufRendezvousKey())
	}
	return l, nil
}

// giver returns the name of a device that must be here, and still be the one that is
// meant.
func (r *Runtime) giver(name string, incarnation uint64) (string, error) {
	var d core.Device
	if r.env.Lookup != nil {
		d = r.env.Lookup(name)
	}
	if d == nil {
		return "", core.Errorf(core.InvalidArgument, "%s unknown device.", name)
	}
	if d.Incarnation() != incarnation {
		return "", core.Errorf(core.FailedPrecondition, "RecvBuf expects a different device incarnation: %d vs. %d. Your worker job that contains the device (\"%s\") was probably restarted. Check your worker job for the reason why it was restarted.", incarnation, d.Incarnation(), name)
	}
	return d.Spec().String(), nil
}
