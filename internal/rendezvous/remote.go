package rendezvous

import (
	"context"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Session is what the steps of a worker session need to know of the cluster.
type Session struct {
	Task      string    // "/job:worker/replica:0/task:1", this task's name in the session
	Devices   Devices   // of this task; nil if all share the host's memory
	Transport Transport // to the other tasks; nil if there are none
	Alloc     Alloc     // memory for what comes from there; nil: ordinary memory
}

// A Remote is the rendezvous of one step in one task of a cluster. Values that
// this task's devices send wait in a table of their own, for receivers here or,
// through RecvLocal, in other tasks; receives from other tasks go out through
// the session's transport. It is a [tf.Rendezvous], safe for concurrent use.
//
// Other tasks may ask before this one has heard of the step. Their receives
// are parked until Initialize tells which session it belongs to.
type Remote struct {
	step  int64
	local *Local

	ended context.Context // ends with Abort, and with it all receives under way
	end   context.CancelCauseFunc

	mu      sync.Mutex
	session *Session
	parked  []*parked
	err     error // set by Abort
}

// NewRemote returns the rendezvous of a step that has no session yet.
func NewRemote(step int64) *Remote {
	r := &Remote{step: step, local: NewLocal(nil)}
	r.ended, r.end = context.WithCancelCause(context.Background())
	return r
}

// Initialize gives the step to a session and answers the parked receives from
// what it sends. Doing so again for the same task changes nothing.
func (r *Remote) Initialize(s *Session) error {
	waiting, err := r.begin(s)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		p.stop()
		r.serve(p.ctx, s, p.key, p.done)
	}
	return nil
}

func (r *Remote) begin(s *Session) ([]*parked, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return nil, r.err
	case r.session == nil:
		r.session = s
		r.local.devices = s.Devices // local is not used before there is a session
		waiting := r.parked
		r.parked = nil
		return waiting, nil
	case r.session.Task != s.Task:
		return nil, core.Errorf(core.Internal, "Double init! Worker names would have changed from: %s -> %s", r.session.Task, s.Task)
	}
	return nil, nil
}

// ready returns the session of a step that can be used.
func (r *Remote) ready() (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return nil, r.err
	case r.session == nil:
		return nil, core.Errorf(core.Internal, "a step's rendezvous must be initialized before it is used, step %d is not", r.step)
	}
	return r.session, nil
}

// Send gives t to the receiver of key, here or in another task. The sending
// device must be one of this task.
func (r *Remote) Send(key string, t *core.Tensor, dead bool) error {
	s, err := r.ready()
	if err != nil {
		return err
	}
	if src, _ := endpoints(key); !inTask(src, s.Task) {
		return badEnd("src", key, s)
	}
	return r.local.Send(key, t, dead)
}

// Recv takes one value from key, which a device of this task receives: from
// the table if the sending device is in this task too, else from its task.
func (r *Remote) Recv(ctx context.Context, key string, done Done) {
	s, err := r.ready()
	if err != nil {
		done(nil, false, err)
		return
	}
	switch src, dst := endpoints(key); {
	case !inTask(dst, s.Task):
		done(nil, false, badEnd("dst", key, s))
	case inTask(src, s.Task):
		r.local.Recv(ctx, key, done)
	default:
		r.fetch(ctx, s, key, src, done)
	}
}

// RecvLocal takes one value from key for a receiver in another task. Before
// the step has a session the receive is parked.
func (r *Remote) RecvLocal(ctx context.Context, key string, done Done) {
	if !r.park(ctx, key, done) {
		r.recvLocal(ctx, key, done)
	}
}

func (r *Remote) recvLocal(ctx context.Context, key string, done Done) {
	s, err := r.ready()
	if err != nil {
		done(nil, false, err)
		return
	}
	r.serve(ctx, s, key, done)
}

func (r *Remote) serve(ctx context.Context, s *Session, key string, done Done) {
	if src, _ := endpoints(key); !inTask(src, s.Task) {
		done(nil, false, badEnd("src", key, s))
		return
	}
	r.local.Recv(ctx, key, done)
}

func badEnd(end, key string, s *Session) error {
	if _, err := ParseKey(key); err != nil {
		return err
	}
	return core.Errorf(core.InvalidArgument, "Invalid rendezvous key (%s): %s @ %s", end, key, s.Task)
}

// inTask reports whether a full device name is one of the task's. TensorFlow
// compares prefixes only, which takes task 10 for task 1.
func inTask(device, task string) bool {
	rest, ok := strings.CutPrefix(device, task)
	return ok && strings.HasPrefix(rest, "/")
}

// Abort fails with err all receives that wait, here, parked or under way from
// another task, and all later calls. Only the first one counts.
func (r *Remote) Abort(err error) {
	err = derived(err)
	r.mu.Lock()
	if r.err != nil {
		r.mu.Unlock()
		return
	}
	r.err = err
	waiting := r.parked
	r.parked = nil
	r.mu.Unlock()
	r.end(err)
	r.local.Abort(err)
	for _, p := range waiting {
		p.stop()
		p.done(nil, false, err)
	}
}

// derived marks an error that only says that a step has ended: what the
// receivers report then must not hide why.
func derived(err error) error {
	if err == nil {
		err = core.Errorf(core.Canceled, "the rendezvous was aborted without a reason")
	}
	e := *core.AsError(err)
	if e.Code == core.Canceled || e.Code == core.Aborted {
		e.Derived = true
	}
	return &e
}
