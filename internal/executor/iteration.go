package executor

import "github.com/gorge-tf/gorge/tf/core"

// iteration holds what the nodes of one iteration of one frame compute. That
// of the root is the only one of its frame.
type iteration struct {
	frame       *frame
	number      int64
	outstanding int      // nodes that are ready or under way
	children    []*frame // loops that were entered from here and have not ended

	slots   []core.Slot
	headers []core.Tensor // of the tensors in slots
	scratch []*core.Tensor
	ctx     []core.OpContext
	counts  []counts
	readers []int32 // nodes that have still to read a slot
	dones   []func(error)
	busy    []bool           // nodes whose kernels will call back; guarded by run.mu
	times   []core.NodeTimes // by local number, if a step has been traced
}

// newIteration makes the memory of an iteration.
func (r *run) newIteration(l *layout) *iteration {
	n := len(l.items)
	x := &iteration{
		slots: make([]core.Slot, l.slots), headers: make([]core.Tensor, l.slots), scratch: make([]*core.Tensor, l.slots),
		ctx: make([]core.OpContext, n), counts: make([]counts, n), readers: make([]int32, l.slots),
	}
	for k := range x.scratch {
		x.scratch[k] = &x.headers[k]
	}
	in, last := make([]core.Slot, l.inputs), append([]bool(nil), l.last...)
	for k, i := range l.items {
		it := &r.e.items[i]
		a, b := int(it.first), int(it.first)+len(it.in)
		c := &x.ctx[k]
		*c = core.OpContext{Step: &r.step, Node: it.node, In: in[a:b:b], Last: last[a:b:b], Pool: r.e.pool}
		if it.frame == it.target {
			o, p := int(it.out), int(it.out)+len(it.node.OutTypes)
			c.Out, c.Scratch = x.slots[o:p:p], x.scratch[o:p:p]
		}
		if it.async != nil || it.heavy {
			r.addDone(x, l, i)
		}
	}
	return x
}

// addDone makes what an asynchronous kernel calls back, once for all runs.
func (r *run) addDone(x *iteration, l *layout, i int32) {
	if x.dones == nil {
		x.dones, x.busy = make([]func(error), len(l.items)), make([]bool, len(l.items))
	}
	x.dones[r.e.items[i].local] = func(err error) { r.complete(x, i, err) }
}

// reset makes x ready for its first node.
func (x *iteration) reset(l *layout) {
	copy(x.counts, l.counts)
	copy(x.readers, l.readers)
	x.outstanding = 0
}

// sweep gives up all values that are left, and the memory that retire has kept.
func (x *iteration) sweep() {
	for k := range x.slots {
		x.drop(int32(k))
	}
	for k := range x.headers {
		x.headers[k].GiveBack()
	}
}

// drop gives up the value of a slot.
func (x *iteration) drop(slot int32) {
	if t := x.slots[slot].T; t != nil {
		t.Release()
	}
	x.slots[slot] = core.Slot{}
}

// retire is drop for a slot that will hold a value of the same size again, most likely.
func (x *iteration) retire(slot int32) {
	if t := x.slots[slot].T; t != nil {
		if t == x.scratch[slot] {
			t.Retire()
		} else {
			t.Release()
		}
	}
	x.slots[slot] = core.Slot{}
}

// unread counts one reader of a slot less; after the last one its value is
// given up.
func (x *iteration) unread(slot int32) {
	if x.readers[slot]--; x.readers[slot] == 0 {
		x.drop(slot)
	}
}

// put makes v, which stays the caller's, the value of a slot.
func (x *iteration) put(slot int32, v core.Slot) {
	if v.T == nil {
		x.slots[slot] = v
		return
	}
	c := core.OpContext{Out: x.slots[slot : slot+1], Scratch: x.scratch[slot : slot+1]}
	c.ShareShape(0, v.T, v.T.Shape())
}
