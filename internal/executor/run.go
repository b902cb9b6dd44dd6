package executor

import (
	"fmt"
	"runtime/debug"

	"github.com/gorge-tf/gorge/tf"
)

// A Run is one execution in progress.
type Run struct{ s *state }

// Start runs the graph. Nodes that need not wait run before Start returns, on
// the calling goroutine. done is called once, when everything has ended; onError
// at the first error, from any goroutine, so that what waits elsewhere for this
// run can be told.
func (e *Executor) Start(step tf.Step, onError, done func(error)) *Run {
	s := e.take()
	s.step, s.onError, s.done = step, onError, done
	s.step.Device = e.device
	s.reset()
	r := &Run{s}
	if s.outstanding == 0 {
		s.end()
		return r
	}
	s.mu.Lock()
	s.running = true
	s.work()
	return r
}

// work runs ready nodes until there are none. It is entered with s.mu held and
// s.running set by the caller, and leaves with both given up.
func (s *state) work() {
	for len(s.ready) > 0 {
		s.mu.Unlock()
		s.some()
		s.mu.Lock()
	}
	s.running = false
	over := s.outstanding == 0
	s.mu.Unlock()
	if over {
		s.end()
	}
}

// some runs nodes until the list is empty or a kernel panics.
func (s *state) some() {
	at := int32(-1)
	defer func() {
		if v := recover(); v != nil {
			s.panicked(at, v)
		}
	}()
	for {
		r, ok := s.pop()
		if !ok {
			return
		}
		at = r.item
		s.node(r)
		at = -1
	}
}

// panicked turns a panic in a kernel into an error of its node.
func (s *state) panicked(at int32, v any) {
	if at < 0 {
		panic(v)
	}
	s.finish(at, tf.Errorf(tf.Internal, "the kernel of %s panicked: %v\n%s", s.e.items[at].node.OpName(), v, debug.Stack()))
}

func (s *state) pop() (ready, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.ready)
	if n == 0 {
		return ready{}, false
	}
	r := s.ready[n-1]
	s.ready = s.ready[:n-1]
	return r, true
}

// node runs one node, or passes on that it is dead.
func (s *state) node(r ready) {
	it := &s.e.items[r.item]
	switch {
	case s.failed.Load():
		s.drop(r.item)
	case r.dead && it.kind != transfer:
		s.propagate(r.item, true)
	default:
		s.compute(r.item, it, r.dead)
	}
}

func (s *state) compute(i int32, it *item, dead bool) {
	c := &s.ctx[i]
	c.Dead = dead
	if err := s.inputs(it, c); err != nil {
		s.finish(i, err)
		return
	}
	if it.async != nil {
		it.async(c, func(err error) { s.finishAsync(i, err) })
		return
	}
	s.finish(i, it.sync(c))
}

// inputs puts into c what the node reads.
func (s *state) inputs(it *item, c *tf.OpContext) error {
	for k, slot := range it.in {
		v := s.slots[slot]
		if it.deref[k] && v.Ref != nil {
			t := v.Ref.Load()
			if t == nil && !it.node.Def.Uninitialized {
				return tf.Errorf(tf.FailedPrecondition, "Attempting to use uninitialized value %s", s.nameOf(slot))
			}
			v = tf.Slot{T: t}
		} else if v.Ref != nil && !it.node.Def.Uninitialized && !v.Ref.Initialized() {
			return tf.Errorf(tf.FailedPrecondition, "Attempting to use uninitialized value %s", s.nameOf(slot))
		}
		c.In[k] = v
		c.Last[k] = s.readers[slot].Load() == 1 && !it.deref[k]
	}
	return nil
}

// nameOf returns the node that computes a slot.
func (s *state) nameOf(slot int32) string {
	for i := len(s.e.items) - 1; i >= 0; i-- {
		if s.e.items[i].out <= slot {
			return s.e.items[i].node.Name
		}
	}
	return ""
}

// finishAsync ends a node on whatever goroutine its kernel called back, which
// goes on with what that makes ready unless somebody is at it.
func (s *state) finishAsync(i int32, err error) {
	s.finish(i, err)
	s.mu.Lock()
	if s.running {
		s.mu.Unlock()
		return
	}
	s.running = true
	s.work()
}

// finish ends node i.
func (s *state) finish(i int32, err error) {
	it, c := &s.e.items[i], &s.ctx[i]
	if err == nil {
		err = it.check(c)
	}
	if err != nil {
		s.fail(tf.AtNode(err, it.node, c.Describe()))
		s.drop(i)
		return
	}
	s.propagate(i, false)
}

// check compares the outputs with what the op promises.
func (it *item) check(c *tf.OpContext) error {
	if it.kind == switching || it.kind == transfer || it.kind == merge {
		return nil
	}
	for k := range c.Out {
		o, want := &c.Out[k], it.node.OutTypes[k]
		switch {
		case o.T == nil && o.Ref == nil:
			return tf.Errorf(tf.Internal, "Missing %d-th output from {{node %s}}", k, it.node.Name)
		case o.T != nil && o.T.DType() != want.Base():
			return tf.Errorf(tf.Internal, "Output %d of type %s does not match declared output type %s for node {{node %s}}",
				k, o.T.DType().CName(), want.CName(), it.node.Name)
		}
	}
	return nil
}

// fail ends the run at its first error; others follow from it.
func (s *state) fail(err error) {
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = err
		s.failed.Store(true)
	}
	onError := s.onError
	s.mu.Unlock()
	if first && onError != nil {
		onError(err)
	}
}

// Fail ends the run with err, if it has not ended: nodes under way finish,
// no others begin.
func (r *Run) Fail(err error) { r.s.fail(err) }

// drop ends a node without effect on others.
func (s *state) drop(int32) {
	s.mu.Lock()
	s.outstanding--
	s.mu.Unlock()
}

// end reports the run's result. Nothing is under way any more.
func (s *state) end() {
	err, done := s.err, s.done
	s.recycle()
	done(err)
}

// String describes e for debugging.
func (e *Executor) String() string {
	return fmt.Sprintf("executor of %d nodes on %v", len(e.items), e.device.Spec())
}
