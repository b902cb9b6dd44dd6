package worker

import (
	"context"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Session is that of a client which runs operations one by one, without a
// master: it has devices, steps and a cluster as those of masters do.
type Session struct {
	w    *Worker
	s    *session
	over *movable // the transport of the cluster as it is now
	left func()   // ends the cluster that the last update replaced; guarded by s.mu
}

// A movable is a transport that can be exchanged for another one.
type movable struct {
	now atomic.Pointer[rendezvous.Transport]
}

func (m *movable) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	(*m.now.Load()).Recv(ctx, task, step, key, alloc, done)
}

// OpenSession opens a session for a client that has no master.
func (w *Worker) OpenSession(req *pb.CreateWorkerSessionRequest) (*Session, error) {
	s, err := w.newSession(req)
	if err != nil {
		return nil, err
	}
	out := &Session{w: w, s: s, over: &movable{}}
	if s.rdv.Transport != nil {
		first := s.rdv.Transport
		out.over.now.Store(&first)
		s.rdv.Transport = out.over
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		s.close(context.Cause(w.ctx))
		return nil, context.Cause(w.ctx)
	}
	if w.sessions[s.handle] != nil { // another call with the same name was faster
		err := core.Errorf(core.InvalidArgument, "the session %s is open already", s.handle)
		s.close(err)
		return nil, err
	}
	if err := w.hasRoom(); err != nil {
		s.close(err)
		return nil, err
	}
	w.sessions[s.handle] = s
	return out, nil
}

// Move gives the session another cluster, in which its task keeps its name.
func (o *Session) Move(def *pb.ServerDef) error {
	if o.w.env.Connect == nil {
		return core.Errorf(core.Unimplemented, "the cluster of a session cannot be changed here")
	}
	c, err := o.w.env.Connect(def.GetCluster(), o.s.rdv.Task)
	if err != nil {
		return err
	}
	before, err := o.replace(c)
	if err != nil { // the session ended meanwhile and does not leave the new cluster
		c.Leave()
		return err
	}
	var t rendezvous.Transport = o.w.transfers.over(c.Transport)
	o.over.now.Store(&t)
	if before != nil {
		before()
	}
	return nil
}

// replace makes c the session's cluster, whose functions and groups find their tasks
// there from now on. What is still under way over
// the channels of the last one may end there, so the function that it returns ends the
// one before that. Both are ended with the session.
func (o *Session) replace(c Cluster) (before func(), err error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.closed {
		return nil, context.Cause(o.s.ctx)
	}
	before = o.left
	o.left, o.s.leave = o.s.leave, c.Leave
	o.s.peer, o.s.member = c.Peer, c.Member
	o.s.moves++
	return before, nil
}

// Task returns the name of the task in the session's cluster.
func (o *Session) Task() string { return o.s.rdv.Task }

// Devices returns the devices of the task as the session sees them.
func (o *Session) Devices() *device.Set { return o.s.rt.Devices }

// Runtime returns what the session's graphs share.
func (o *Session) Runtime() *step.Runtime { return &o.s.rt }

// Context returns what ends with the session.
func (o *Session) Context() context.Context { return o.s.ctx }

// Attributes describes the devices.
func (o *Session) Attributes() (all []*pb.DeviceAttributes) {
	for _, d := range o.s.rt.Devices.List() {
		all = append(all, o.w.attributes(d))
	}
	return all
}

// Step returns the rendezvous of a step of the session. It lasts until EndStep or
// the end of the session.
func (o *Session) Step(id int64) (*rendezvous.Remote, error) {
	r := o.w.claim(id, o.s)
	return r, r.Initialize(&o.s.rdv)
}

// Stand is Step for a step in which values wait between operations: that it is there does
// not mean that anything is under way.
func (o *Session) Stand(id int64) (*rendezvous.Remote, error) {
	o.w.mu.Lock()
	if o.s.standing == nil {
		o.s.standing = map[int64]bool{}
	}
	o.s.standing[id] = true
	o.w.mu.Unlock()
	return o.Step(id)
}

// EndStep ends a step and fails what still waits for a value of it.
func (o *Session) EndStep(id int64) {
	o.w.mu.Lock()
	of := o.w.steps[id]
	if of == o.s {
		delete(o.w.steps, id)
	}
	o.w.mu.Unlock()
	if of == o.s {
		o.w.cleanup(o.s, id)
	}
}

// Begin counts an operation that Close, and the worker's Drain, wait for until the
// function that it returns is called.
func (o *Session) Begin() (end func(), err error) {
	if err := o.s.begin(); err != nil {
		return nil, err
	}
	o.w.operations.Add(1)
	return func() {
		o.w.operations.Add(-1)
		o.s.steps.Done()
	}, nil
}

// Close ends the session and all that is under way in it.
func (o *Session) Close(why error) {
	o.w.mu.Lock()
	open := o.w.sessions[o.s.handle] == o.s
	if open {
		delete(o.w.sessions, o.s.handle)
	}
	o.w.mu.Unlock()
	if open { // else the worker has ended it
		o.w.end(o.s, why)
	}
	o.s.mu.Lock()
	left := o.left
	o.left = nil
	o.s.mu.Unlock()
	if left != nil {
		left()
	}
}
