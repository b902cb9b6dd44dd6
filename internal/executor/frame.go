package executor

import (
	"slices"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// frame is a loop under way, entered from an iteration of the frame around it;
// or the root, which has one iteration.
type frame struct {
	*layout
	id     uint64 // of the frame and iterations around it, in keys of rendezvous: the same in all parts of a graph
	parent *iteration

	iters     []*iteration // that have not ended, the oldest first
	newest    int64        // number of the last of them, or of the last one that there was
	pending   int          // Enter nodes that have not run
	constants []held       // what is the same in all iterations
	deferred  []held       // what the next iteration, which has to wait, begins with
	deadExits []int32      // of the newest iteration

	planned    bool    // it runs as its layout's plan says, unless something dead enters
	deadEnters []int32 // that have come, if planned
}

// held is the output of a node, kept for iterations to come. A dead one has
// no value.
type held struct {
	item int32
	v    core.Slot
}

func (h held) dead() bool { return h.v.T == nil && h.v.Ref == nil }

// keep returns v with a reference of its own.
func keep(i int32, v core.Slot) held {
	if v.T != nil {
		v.T = v.T.Share()
	}
	return held{i, v}
}

func drop(list []held) []held {
	for k := range list {
		if t := list[k].v.T; t != nil {
			t.Release()
		}
		list[k] = held{}
	}
	return list[:0]
}

// cross runs a node that takes its input to another iteration.
func (r *run) cross(x *iteration, it *item, dead bool) {
	c := &x.ctx[it.local]
	i := x.frame.items[it.local]
	var v core.Slot
	if !dead {
		if err := it.load(x, c, x.frame.layout); err != nil {
			r.finish(x, i, err)
			return
		}
		v = c.In[0]
	}
	if r.traced() && !dead {
		x.clock(it).Start = time.Now()
		r.report(x, i)
	}
	switch it.kind {
	case enter:
		r.enter(x, i, v)
	case exit:
		r.exit(x, i, v)
	case next:
		r.next(x, i, v)
	}
	r.leave(x, it, dead)
	r.nodeEnded(x)
}

// deliver makes v the output of node i in x. No value means a dead one.
func (r *run) deliver(x *iteration, h held) {
	it := &r.e.items[h.item]
	if !h.dead() {
		x.put(it.out, h.v)
	}
	r.wake(x, it, h.dead())
}

// enter takes v from x into a loop, which begins with the first Enter.
func (r *run) enter(x *iteration, i int32, v core.Slot) {
	it := &r.e.items[i]
	f := r.child(x, it.target)
	f.pending--
	if f.planned {
		r.enterPlanned(f, i, v)
		return
	}
	if it.constant {
		h := keep(i, v)
		f.constants = append(f.constants, h)
		for _, y := range f.iters {
			r.deliver(y, h)
		}
	} else {
		r.deliver(f.iters[0], held{i, v}) // the first one: it waits for all Enters
	}
	r.tidy(f)
}

// child returns the loop that has been entered from x.
func (r *run) child(x *iteration, index int32) *frame {
	l := &r.e.frames[index]
	for _, f := range x.children {
		if f.layout == l {
			return f
		}
	}
	f := r.newFrame(l.index)
	f.layout, f.parent, f.pending, f.newest = l, x, l.enters, -1
	f.id = rendezvous.FrameID(x.frame.id, x.number, l.name)
	f.planned = l.plan != nil && !r.traced() && r.e.light(l.plan)
	x.children = append(x.children, f)
	r.iterate(f)
	return f
}

func (r *run) newFrame(index int32) *frame {
	list := r.loops[index]
	if n := len(list); n > 0 {
		r.loops[index] = list[:n-1]
		return list[n-1]
	}
	return &frame{}
}

// iterate begins another iteration of f.
func (r *run) iterate(f *frame) *iteration {
	x := r.takeIteration(f)
	f.newest++
	x.frame, x.number = f, f.newest
	f.iters = append(f.iters, x)
	f.deadExits = f.deadExits[:0]
	for _, h := range f.constants {
		r.deliver(x, h)
	}
	return x
}

func (r *run) takeIteration(f *frame) *iteration {
	list := r.free[f.index]
	var x *iteration
	if n := len(list); n > 0 {
		x, r.free[f.index] = list[n-1], list[:n-1]
	} else {
		x = r.newIteration(f.layout)
	}
	x.reset(f.layout)
	return x
}

// exit takes v out of the loop. If it is dead the loop goes on, or it was
// never run: that is known when it ends.
func (r *run) exit(x *iteration, i int32, v core.Slot) {
	h := held{i, v}
	if !h.dead() {
		r.deliver(x.frame.parent, h)
		return
	}
	if x.number == x.frame.newest {
		x.frame.deadExits = append(x.frame.deadExits, i)
	}
}

// next takes v into the next iteration. While as many are under way as may be
// (parallel), v is kept (deferred) until the oldest has ended: that bounds the memory
// of a loop, and is why iterations end in their order.
func (r *run) next(x *iteration, i int32, v core.Slot) {
	f, h := x.frame, held{i, v}
	switch {
	case h.dead():
	case x.number < f.newest:
		r.deliver(f.iters[x.number+1-f.iters[0].number], h)
	case len(f.iters) < f.parallel:
		r.deliver(r.iterate(f), h)
	default:
		f.deferred = append(f.deferred, keep(i, v))
	}
}

// nodeEnded counts a node of x that is not under way any more.
func (r *run) nodeEnded(x *iteration) {
	if x.outstanding--; x.outstanding == 0 && x.frame.parent != nil {
		r.tidy(x.frame)
	}
}

// tidy ends what is done of f: the oldest iterations in turn, and f itself.
func (r *run) tidy(f *frame) {
	for len(f.iters) > 0 && f.iters[0].over(f) {
		r.discard(f.iters[0])
		f.iters = slices.Delete(f.iters, 0, 1)
		if len(f.deferred) > 0 {
			r.resume(f)
		}
	}
	if f.pending == 0 && len(f.iters) == 0 {
		r.endFrame(f)
	}
}

// over reports whether nothing can happen any more in x, the oldest iteration.
func (x *iteration) over(f *frame) bool {
	return x.outstanding == 0 && len(x.children) == 0 && (x.number > 0 || f.pending == 0)
}

// resume begins the iteration that had to wait.
func (r *run) resume(f *frame) {
	x := r.iterate(f)
	for _, h := range f.deferred {
		r.deliver(x, h)
	}
	f.deferred = drop(f.deferred)
}

// discard gives back the memory of an iteration.
func (r *run) discard(x *iteration) {
	x.sweep()
	index := x.frame.index
	r.free[index] = append(r.free[index], x)
}

// endFrame ends a loop: exits that no iteration has taken are dead.
func (r *run) endFrame(f *frame) {
	x := f.parent
	for _, i := range f.deadExits {
		r.deliver(x, held{item: i})
	}
	x.children = slices.DeleteFunc(x.children, func(c *frame) bool { return c == f })
	r.discardFrame(f)
	if x.outstanding == 0 && x.frame.parent != nil {
		r.tidy(x.frame)
	}
}

func (r *run) discardFrame(f *frame) {
	f.constants, f.deferred, f.deadExits = drop(f.constants), drop(f.deferred), f.deadExits[:0]
	f.deadEnters = f.deadEnters[:0]
	r.loops[f.index] = append(r.loops[f.index], f)
}

// sweep gives up all values of f and of the loops within it.
func (f *frame) sweep(r *run) {
	for _, x := range f.iters {
		for _, c := range x.children {
			c.sweep(r)
			r.discardFrame(c)
		}
		x.children = x.children[:0]
		if x != r.root.iters[0] {
			r.discard(x)
			continue
		}
		x.sweep()
	}
	if f != &r.root {
		f.iters = f.iters[:0]
	}
}
