package collective

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A group is a set of devices that do things together.
type group struct {
	key, size int
	kind      string   // type of its devices
	members   []member // in order, once all are there
	perTask   []int    // members of each task, in that order
	instances instances
	step      int64 // of the last local device that has joined
	remote    bool  // other tasks know of it

	ready chan struct{} // closed when all are there, or never will be
	err   error         // why not; set before
	full  bool
}

// wanted is a group as described by a device that wants to join.
type wanted struct {
	key, size int
	kind      string
	rank      int
	step      int64 // of a device of this task; 0: of another, or of none in particular
}

func newGroup(w wanted) *group {
	return &group{key: w.key, size: w.size, kind: w.kind, ready: make(chan struct{})}
}

// rank returns the place of a device in g, which is complete; -1 if it has none.
func (g *group) rank(device string) int {
	for i := range g.members {
		if g.members[i].name == device {
			return i
		}
	}
	return -1
}

// within reports whether all members are of one task.
func (g *group) within(task string) bool { return len(g.perTask) == 1 && g.members[0].task == task }

// admit makes m a member, or finds that it is one. Errors but that g is full
// without m tell that g is of no use any more.
func (g *group) admit(m member, w wanted) error {
	switch {
	case w.kind != g.kind:
		return core.Errorf(core.Internal, "Device %s is joining a group with incompatible device type%s (group_key=%d)", m.name, g.kind, g.key)
	case w.size != g.size:
		return core.Errorf(core.Internal, "Device %s is joining a group with size%d, but that group has size %d (group_key=%d)", m.name, w.size, g.size, g.key)
	}
	if i := g.rank(m.name); i >= 0 {
		if g.members[i].device.GetIncarnation() != m.device.GetIncarnation() {
			return core.Errorf(core.FailedPrecondition, "Device %s current incarnation doesn't match with one in the group. This usually means this worker has restarted but the collective leader hasn't, or this worker connects to a wrong cluster.", m.name)
		}
		return nil
	}
	if g.full {
		return core.Errorf(core.Internal, "Device %s is joining a group that is already full (group_key=%d)", m.name, g.key)
	}
	if w.rank < -1 || w.rank >= g.size {
		return core.Errorf(core.InvalidArgument, "User Provided rank is invalid. It should be between [0, group_size)")
	}
	g.members = append(g.members, m)
	if len(g.members) < g.size {
		return nil
	}
	return g.complete()
}

// complete settles what follows from the members.
func (g *group) complete() error {
	g.perTask = arrange(g.members)
	if err := settleRanks(g.members); err != nil {
		return err
	}
	g.full = true
	close(g.ready)
	return nil
}

// ranks lists the ranks that members asked for.
func ranks(members []member) string {
	out := make([]string, len(members))
	for i := range members {
		out[i] = fmt.Sprint(members[i].rank)
	}
	return strings.Join(out, ",")
}

// groups are all that a task knows of, by key.
type groups struct {
	mu  sync.Mutex
	all map[int]*group
}

// find returns a complete group, nil if there is none.
func (t *groups) find(key int) *group {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.all[key]; g != nil && g.full {
		return g
	}
	return nil
}

// join makes a device a member of its group and waits for the others. A device
// that does not wait any longer ends the waiting of all, which could never be as
// many as there must be. A group that is complete stays: other tasks know it and do
// not come to complete another one.
func (t *groups) join(ctx context.Context, m member, w wanted) (*group, error) {
	g, err := t.enter(m, w)
	if err != nil {
		return nil, err
	}
	select {
	case <-g.ready:
		return g, g.err
	case <-ctx.Done():
		err := ended(ctx, "group is cancelled")
		t.mu.Lock()
		defer t.mu.Unlock()
		if !g.full {
			t.drop(g, aborted(err))
		}
		return nil, err
	}
}

func (t *groups) enter(m member, w wanted) (*group, error) {
	if w.size <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "group_size must be positive integer but got %d", w.size)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.all[w.key]
	if g == nil || g.outlived(w) {
		g = newGroup(w)
		t.put(g)
	}
	err := g.admit(m, w)
	if err != nil && (!g.full || core.CodeOf(err) == core.FailedPrecondition) {
		t.drop(g, err)
	}
	g.step, g.remote = w.step, g.remote || w.step == 0
	return g, err
}

// outlived reports whether w comes from another program than g: one that only
// devices of this task were in is done with, once a later step wants another.
func (g *group) outlived(w wanted) bool {
	return g.full && !g.remote && len(g.perTask) == 1 && w.step != 0 && w.step != g.step && (w.size != g.size || w.kind != g.kind)
}

func (t *groups) put(g *group) {
	if t.all == nil {
		t.all = map[int]*group{}
	}
	t.all[g.key] = g
}

// drop forgets g, which may then be formed anew; members that wait for it get err. The
// caller holds mu.
func (t *groups) drop(g *group, err error) {
	if t.all[g.key] == g {
		delete(t.all, g.key)
	}
	if !g.full && g.err == nil {
		g.err = err
		close(g.ready)
	}
}

// forget drops a complete group whose members are not what they were.
func (t *groups) forget(g *group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(g, nil)
}

// learn keeps a group as the leader tells of it.
func (t *groups) learn(resp *pb.CompleteGroupResponse) error {
	g, err := groupOf(resp)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.all[g.key]; old == nil || !old.full {
		if old != nil {
			t.drop(old, core.Errorf(core.Aborted, "the group %d has been completed by its leader", g.key))
		}
		t.put(g)
	}
	return nil
}

func groupOf(resp *pb.CompleteGroupResponse) (*group, error) {
	switch devices := resp.GetDeviceAttributes(); {
	case len(devices) == 0:
		return nil, core.Errorf(core.Internal, "CompleteGroupResponse device_attributes is empty. Make sure you're running the same version of Tensorflow on all workers.")
	case len(devices) != int(resp.GetGroupSize()):
		return nil, core.Errorf(core.Internal, "CompleteGroupResponse group_size doesn't match device_name list")
	}
	g := newGroup(wanted{key: int(resp.GetGroupKey()), size: int(resp.GetGroupSize()), kind: resp.GetDeviceType()})
	for _, d := range resp.GetDeviceAttributes() {
		m, err := newMember(d, -1)
		if err != nil {
			return nil, err
		}
		g.members = append(g.members, m)
	}
	return g, g.complete()
}

// proto is what the leader tells of a complete group.
func (g *group) proto() *pb.CompleteGroupResponse {
	resp := &pb.CompleteGroupResponse{GroupKey: int32(g.key), GroupSize: int32(g.size), DeviceType: g.kind, NumTasks: int32(len(g.perTask))}
	for _, m := range g.members {
		resp.DeviceAttributes = append(resp.DeviceAttributes, m.device)
	}
	return resp
}
