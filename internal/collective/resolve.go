package collective

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// group returns the group that a device of this task wants to be in, when it is
// complete. The leader completes groups; other tasks ask it for those that they
// do not know.
func (r *Runtime) group(ctx context.Context, step int64, device *pb.DeviceAttributes, w core.CollectiveGroup) (*group, error) {
	m, err := newMember(device, w.Rank)
	if err != nil {
		return nil, err
	}
	want := wanted{key: w.Key, size: w.Size, kind: device.GetDeviceType(), rank: w.Rank, step: step}
	if r.env.Leader != "" && r.groups.find(w.Key) == nil {
		if err := r.askGroup(ctx, device, want); err != nil {
			return nil, err
		}
	}
	return r.groups.join(ctx, m, want)
}

func (r *Runtime) askGroup(ctx context.Context, device *pb.DeviceAttributes, w wanted) error {
	leader, err := r.peer(r.env.Leader)
	if err != nil {
		return err
	}
	resp, err := leader.CompleteGroup(ctx, &pb.CompleteGroupRequest{
		GroupKey: int32(w.key), GroupSize: int32(w.size), DeviceType: w.kind, DeviceAttributes: device,
	})
	if err != nil {
		return r.unless(ctx, err, "group is cancelled")
	}
	return r.groups.learn(resp)
}

// unless is err, or why ctx has ended.
func (r *Runtime) unless(ctx context.Context, err error, what string) error {
	if ctx.Err() != nil {
		return ended(ctx, what)
	}
	return err
}

// instance finds out whether a part fits those of the other members, and which
// is the source.
func (r *Runtime) instance(ctx context.Context, g *group, p *part, name string) (source int, err error) {
	if r.env.Leader == "" {
		return g.instances.agree(ctx, g, p)
	}
	if _, known := g.instances.source(p); !known {
		if err := r.askInstance(ctx, g, p, name); err != nil {
			return -1, err
		}
	}
	return g.instances.agree(ctx, g, p)
}

func (r *Runtime) askInstance(ctx context.Context, g *group, p *part, name string) error {
	leader, err := r.peer(r.env.Leader)
	if err != nil {
		return err
	}
	shape := &pb.TensorShapeProto{}
	for _, d := range p.shape {
		shape.Dim = append(shape.Dim, &pb.TensorShapeProto_Dim{Size: int64(d)})
	}
	resp, err := leader.CompleteInstance(ctx, &pb.CompleteInstanceRequest{
		Name: name, Type: int32(p.kind), DataType: pb.DataType(p.dtype), Shape: shape, StepId: p.key.step,
		GroupKey: int32(g.key), GroupSize: int32(g.size), InstanceKey: int32(p.key.instance), DeviceType: g.kind,
		Device: p.device, IsSource: p.source,
	})
	if err != nil {
		return r.unless(ctx, err, "instance is cancelled")
	}
	return g.instances.learn(g, p, int(resp.GetSourceRank()))
}
