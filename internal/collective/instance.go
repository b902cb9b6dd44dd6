package collective

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// An instance is one thing that a group does, perhaps many times.
type instance struct {
	kind  core.CollectiveKind
	dtype core.DType
	shape core.Shape

	known  map[int]bool  // of a broadcast: members that have told whether they are its source
	source int           // the one that is; -1: none so far
	ready  chan struct{} // closed when all have, or err is set
	err    error
}

// A part is what one member says of an instance.
type part struct {
	key    instanceKey
	kind   core.CollectiveKind
	dtype  core.DType
	shape  core.Shape
	device string
	rank   int
	source bool
}

type instanceKey struct {
	group, instance int
	step            int64 // 0: of no step in particular
}

// instances are those of a group, or of a step.
type instances struct {
	mu  sync.Mutex
	all map[instanceKey]*instance
}

// mostInstances bounds what a group remembers of what it does, for programs that
// never do the same thing twice.
const mostInstances = 1 << 16

// get returns the instance of a part, which it begins if it is new.
func (t *instances) get(p *part) *instance {
	i := t.all[p.key]
	if i != nil {
		return i
	}
	if t.all == nil || len(t.all) >= mostInstances {
		t.clear()
	}
	i = &instance{kind: p.kind, dtype: p.dtype, shape: p.shape, source: -1, known: map[int]bool{}, ready: make(chan struct{})}
	t.all[p.key] = i
	return i
}

// clear forgets all instances but those that members wait for.
func (t *instances) clear() {
	old := t.all
	t.all = map[instanceKey]*instance{}
	for key, i := range old {
		if len(i.known) > 0 && !i.settled() {
			t.all[key] = i
		}
	}
}

func (i *instance) settled() bool {
	select {
	case <-i.ready:
		return true
	default:
		return false
	}
}

// source returns the source of a broadcast of which all is known; -1 for other
// kinds. Not known: what a member must ask the leader for.
func (t *instances) source(p *part) (rank int, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.all[p.key]
	if i == nil || p.kind == core.BroadcastCollective && (!i.settled() || i.err != nil) {
		return -1, false
	}
	return i.source, true
}

// agree finds out whether a part fits what the other members have said, waits for
// all of them if it is of a broadcast, and returns which is the source. One who gives up
// ends an instance of which not all is known; one that is settled stays, as its group does.
func (t *instances) agree(ctx context.Context, g *group, p *part) (source int, err error) {
	i, err := t.take(g, p)
	if err != nil || p.kind != core.BroadcastCollective {
		return -1, err
	}
	select {
	case <-i.ready:
		return i.source, i.err
	case <-ctx.Done():
		err := ended(ctx, "instance is cancelled")
		t.mu.Lock()
		defer t.mu.Unlock()
		if !i.settled() {
			i.end(aborted(err))
			delete(t.all, p.key)
		}
		return -1, err
	}
}

func (t *instances) take(g *group, p *part) (*instance, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.get(p)
	if err := i.check(p); err != nil {
		return nil, err
	}
	if p.kind == core.BroadcastCollective {
		i.note(g, p)
	}
	return i, nil
}

// learn keeps what the leader says of a part's instance.
func (t *instances) learn(g *group, p *part, source int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.get(p)
	if p.kind != core.BroadcastCollective {
		return nil
	}
	switch {
	case i.err != nil:
		return i.err
	case i.source >= 0 && i.source != source:
		return core.Errorf(core.Internal, "UpdateInstanceCache: CompleteInstanceResponse for instance %d gives source_rank=%d but cache already holds value=%d", p.key.instance, source, i.source)
	case source < 0 || source >= g.size:
		return core.Errorf(core.Internal, "the source of a broadcast must be a member of its group of %d, the leader says %d", g.size, source)
	}
	i.source = source
	i.end(nil)
	return nil
}

// check compares a part with what others have said.
func (i *instance) check(p *part) error {
	if i.kind != p.kind || i.dtype != p.dtype {
		return core.Errorf(core.Internal, "Collective instance %d expected type %d and data_type %d but got type %d and data_type %d",
			p.key.instance, i.kind, i.dtype, p.kind, p.dtype)
	}
	if !i.shape.Equal(p.shape) {
		return core.Errorf(core.InvalidArgument, "Shape mismatch in the collective instance %d. Op at device %s expected shape %s but another member in the group expected shape %s. This is likely due to different input shapes at different members of the collective op.",
			p.key.instance, p.device, p.shape.String(), i.shape.String())
	}
	return nil
}

// note keeps what one member says of a broadcast. When all have spoken, there
// must be a source.
func (i *instance) note(g *group, p *part) {
	if i.known[p.rank] || i.settled() {
		return
	}
	i.known[p.rank] = true
	switch {
	case p.source && i.source >= 0:
		i.end(core.Errorf(core.Internal, "Instance %d already has source %d, received second claim from %d", p.key.instance, i.source, p.rank))
		return
	case p.source:
		i.source = p.rank
	}
	if len(i.known) < g.size {
		return
	}
	if i.source < 0 {
		i.end(core.Errorf(core.Internal, "Instance %d found no source for broadcast.  This could mean that there were group_size=%d BcastRecvs but no BcastSend.", p.key.instance, g.size))
		return
	}
	i.end(nil)
}

// end wakes the members that wait.
func (i *instance) end(err error) {
	if i.settled() {
		return
	}
	i.err = err
	close(i.ready)
}
