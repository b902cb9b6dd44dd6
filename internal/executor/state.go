package executor

import (
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
)

// state is one run of an executor. Nodes may end on any goroutine; what runs
// them next is whichever goroutine finds work in ready and nobody at it.
type state struct {
	e    *Executor
	step tf.Step
	done func(error)

	slots   []tf.Slot
	headers []tf.Tensor // of the tensors in slots
	scratch []*tf.Tensor
	in      []tf.Slot
	last    []bool
	ctx     []tf.OpContext
	left    []atomic.Int32 // inputs that a node still waits for
	deadIn  []atomic.Int32 // dead inputs that have come
	readers []atomic.Int32 // nodes that have still to read a slot

	mu          sync.Mutex
	ready       []ready
	running     bool // a goroutine is at it
	outstanding int  // nodes that are ready or under way
	err         error
	failed      atomic.Bool
	onError     func(error)
}

// ready is a node whose inputs are all there.
type ready struct {
	item int32
	dead bool
}

// take returns a state for a run.
func (e *Executor) take() *state {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		return s
	}
	return e.newState()
}

func (e *Executor) newState() *state {
	n := len(e.items)
	s := &state{
		e: e, slots: make([]tf.Slot, e.slots), headers: make([]tf.Tensor, e.slots), scratch: make([]*tf.Tensor, e.slots),
		ctx: make([]tf.OpContext, n), left: make([]atomic.Int32, n), deadIn: make([]atomic.Int32, n), readers: make([]atomic.Int32, e.slots),
	}
	for k := range s.scratch {
		s.scratch[k] = &s.headers[k]
	}
	inputs := 0
	for i := range e.items {
		inputs += len(e.items[i].in)
	}
	s.in, s.last = make([]tf.Slot, inputs), make([]bool, inputs)
	for i := range e.items {
		it := &e.items[i]
		a, b := it.input0, int(it.input0)+len(it.in)
		o, p := it.out, int(it.out)+len(it.node.OutTypes)
		s.ctx[i] = tf.OpContext{Step: &s.step, Node: it.node, In: s.in[a:b:b], Last: s.last[a:b:b],
			Out: s.slots[o:p:p], Scratch: s.scratch[o:p:p], Pool: e.pool}
	}
	return s
}

// reset makes s ready for its first node.
func (s *state) reset() {
	for i := range s.e.items {
		it := &s.e.items[i]
		s.left[i].Store(it.waits)
		s.deadIn[i].Store(0)
	}
	for k := range s.readers {
		s.readers[k].Store(0)
	}
	for i := range s.e.items {
		for _, slot := range s.e.items[i].in {
			s.readers[slot].Add(1)
		}
	}
	s.err, s.outstanding = nil, 0
	s.failed.Store(false)
	for _, r := range s.e.roots {
		s.ready = append(s.ready, ready{item: r})
	}
	s.outstanding = len(s.ready)
}

// recycle gives back whatever the run has left behind.
func (s *state) recycle() {
	for k := range s.slots {
		if t := s.slots[k].T; t != nil {
			t.Release()
		}
		s.slots[k] = tf.Slot{}
	}
	clear(s.in)
	s.ready = s.ready[:0]
	s.step, s.done, s.onError = tf.Step{}, nil, nil
	s.e.mu.Lock()
	s.e.free = append(s.e.free, s)
	s.e.mu.Unlock()
}
