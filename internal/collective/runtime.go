package collective

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Peer is another task.
type Peer interface {
	CompleteGroup(context.Context, *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error)
	CompleteInstance(context.Context, *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error)
	GetStepSequence(context.Context, *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error)
	// RecvBuf fills into with a value of the peer's.
	RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error
}

// Env is what a runtime works with.
type Env struct {
	// Lookup finds a device of this task by its full name; nil: it has none
	// that others could ask for.
	Lookup func(device string) core.Device
	// Leader is the task that completes groups; "": this one does.
	Leader string
	// Peer returns another task; nil: there are none.
	Peer func(task string) (Peer, error)
	// Patience is how long other tasks may wait for values of a step that does
	// not come to leave them; 0: DefaultPatience.
	Patience time.Duration
}

// DefaultPatience is as for tensors.
const DefaultPatience = 10 * time.Minute

// A Runtime does the part of one task in all that devices do together. It is a
// [tf.Collectives], safe for concurrent use.
type Runtime struct {
	env       Env
	groups    groups
	sequences sequences

	mu    sync.Mutex
	steps map[int64]*step
}

var _ core.Collectives = (*Runtime)(nil)

// New returns a runtime without groups.
func New(env Env) *Runtime {
	if env.Patience <= 0 {
		env.Patience = DefaultPatience
	}
	return &Runtime{env: env, steps: map[int64]*step{}}
}

// A step is what goes on in one step. The first error ends all of it.
type step struct {
	id        int64
	buffers   buffers
	instances instances
	ctx       context.Context
	cancel    context.CancelCauseFunc
	users     int // guarded by Runtime.mu
}

// acquire returns a step, which stays until its users have released it.
func (r *Runtime) acquire(id int64) *step {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.steps[id]
	if s == nil {
		s = &step{id: id}
		s.ctx, s.cancel = context.WithCancelCause(context.Background())
		r.steps[id] = s
	}
	s.users++
	return s
}

// release gives a step back. A failed step is kept until Cleanup, so that members
// that come late get its error.
func (r *Runtime) release(s *step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users--; s.users == 0 && s.ctx.Err() == nil && r.steps[s.id] == s {
		delete(r.steps, s.id)
		s.cancel(nil)
	}
}

// Cleanup forgets a step and ends what still waits in it.
func (r *Runtime) Cleanup(id int64) {
	r.mu.Lock()
	s := r.steps[id]
	delete(r.steps, id)
	r.mu.Unlock()
	if s != nil {
		s.fail(core.Errorf(core.Aborted, "Cleanup %d", id))
	}
}

// Close ends all steps.
func (r *Runtime) Close() {
	r.mu.Lock()
	all := r.steps
	r.steps = map[int64]*step{}
	r.mu.Unlock()
	for _, s := range all {
		s.fail(core.Errorf(core.Aborted, "Shutdown"))
	}
}

// Steps returns how many steps are known.
func (r *Runtime) Steps() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.steps)
}

// fail ends all that goes on in the step.
func (s *step) fail(err error) { s.cancel(end{aborted(err)}) }

// during runs f in a context that ends with c's step, and with the first error of any
// other collective operation in it. An error of f ends those others.
func (r *Runtime) during(c *core.OpContext, name string, f func(context.Context, *step) error) error {
	s := r.acquire(c.ID)
	defer r.release(s)
	ctx, cancel := context.WithCancelCause(c.StepContext())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	err := f(ctx, s)
	switch {
	case err == nil:
		return nil
	case c.StepContext().Err() != nil:
		err = ended(c.StepContext(), "op cancelled "+name)
	}
	if s.ctx.Err() == nil {
		s.fail(err)
		return own(err)
	}
	return ended(s.ctx, "")
}

// Join waits until all devices of a group have joined it.
func (r *Runtime) Join(c *core.OpContext, g core.CollectiveGroup, timeout time.Duration) error {
	return r.during(c, c.Node.Name, func(ctx context.Context, s *step) error {
		ctx, cancel := within(ctx, timeout, waitingTooLong)
		defer cancel()
		_, err := r.group(ctx, c.ID, attributes(c.Device), g)
		return err
	})
}

// What a timeout is told to have ended.
const (
	waitingTooLong = "Collective has timed out waiting for other workers."
	workingTooLong = "Collective has timed out during execution."
)

// within bounds a context.
func within(ctx context.Context, d time.Duration, late string) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, end{core.Errorf(core.DeadlineExceeded, "%s", late)})
}

// Do does the part of c's node.
func (r *Runtime) Do(c *core.OpContext, p *core.Collective) error {
	return r.during(c, p.Name, func(ctx context.Context, s *step) error {
		x := &exec{r: r, c: c, p: p, buffers: &s.buffers, key: keyOf(c, p)}
		if err := x.resolve(ctx, s); err != nil {
			return err
		}
		var cancel context.CancelFunc
		x.ctx, cancel = within(ctx, p.Timeout, workingTooLong)
		defer cancel()
		return x.run()
	})
}

// resolve finds the members, and whether all agree on what is done.
func (x *exec) resolve(ctx context.Context, s *step) (err error) {
	ctx, cancel := within(ctx, x.p.Timeout, waitingTooLong)
	defer cancel()
	if x.g, err = x.findGroup(ctx); err != nil {
		return err
	}
	device := x.c.Device.Spec()
	if x.rank = x.g.rank(device.String()); x.rank < 0 {
		return core.Errorf(core.Internal, "Device %s is no member of the group (group_key=%d)", device, x.g.key)
	}
	x.source, err = x.agree(ctx, s, device)
	return err
}

// findGroup returns the group of the operation: the one that an initialization has
// joined before (Joined), which it does not wait for, or one that is joined now.
func (x *exec) findGroup(ctx context.Context) (*group, error) {
	if !x.p.Joined {
		return x.r.group(ctx, x.c.ID, attributes(x.c.Device), x.p.Group)
	}
	if g := x.r.groups.find(x.p.Group.Key); g != nil {
		return g, nil
	}
	return nil, core.Errorf(core.InvalidArgument, "Group %d is not initialized. Please call group initialization op first before invoking collective op.", x.p.Group.Key)
}

// agree finds out whether the others do the same, and which is the source. Among
// devices of one task that is settled step by step; tasks ask the leader once for
// all steps, unless steps have numbers that all tasks know.
func (x *exec) agree(ctx context.Context, s *step, device core.DeviceSpec) (source int, err error) {
	p := part{
		key:  instanceKey{group: x.g.key, instance: x.p.Instance},
		kind: x.p.Kind, dtype: x.p.Out.DType(), shape: x.p.Out.Shape().Clone(),
		device: device.String(), rank: x.rank, source: x.p.Source,
	}
	if x.g.within(device.TaskName()) {
		return s.instances.agree(ctx, x.g, &p)
	}
	if x.p.PerStep {
		p.key.step = x.c.ID
	}
	if source, known := x.g.instances.source(&p); known && x.p.Again {
		return source, nil
	}
	return x.r.instance(ctx, x.g, &p, x.p.Name)
}

func attributes(d core.Device) *pb.DeviceAttributes {
	return &pb.DeviceAttributes{
		Name: d.Spec().String(), DeviceType: d.Spec().Type, MemoryLimit: d.MemoryLimit(),
		Incarnation: d.Incarnation(), Locality: &pb.DeviceLocality{},
	}
}

func (r *Runtime) peer(task string) (Peer, error) {
	if r.env.Peer == nil {
		return nil, core.Errorf(core.Internal, "CollectiveRemoteAccessLocal::RecvFromPeer called with peer_is_local=false: there is no way to %s", task)
	}
	return r.env.Peer(task)
}
