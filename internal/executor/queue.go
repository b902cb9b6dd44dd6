package executor

import (
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// begin makes the nodes without inputs ready.
func (r *run) begin() {
	x := r.root.iters[0]
	x.reset(r.root.layout)
	r.lateNow = r.hooks.Pieces
	for _, i := range r.e.roots {
		r.push(x, i, false)
	}
}

func (r *run) push(x *iteration, i int32, dead bool) {
	x.outstanding++
	if r.traced() {
		r.noteReady(x, &r.e.items[i])
	}
	list := &r.ready
	switch it := &r.e.items[i]; {
	case it.late && !r.lateNow:
		list = &r.late
	case it.reads:
		list = &r.reads
	}
	*list = append(*list, ready{x, i, dead})
}

// pop takes the node that is to be run next. Variables are read before anything
// else that could be done, so that steps that read and update them give the same
// each time: TensorFlow, which begins all reads at once, does so nearly always.
func (r *run) pop() (n ready) {
	list := &r.ready
	if len(r.reads) > 0 {
		list = &r.reads
	}
	last := len(*list) - 1
	n, *list = (*list)[last], (*list)[:last]
	return n
}

// idle reports whether no node is ready.
func (r *run) idle() bool { return len(r.ready)+len(r.reads) == 0 }

// work runs nodes until none is ready. The caller has set r.running.
func (r *run) work() {
	for {
		for !r.idle() {
			if !r.runReady() {
				return
			}
		}
		if !r.readNotes() && r.stop() {
			return
		}
	}
}

// stop gives up running nodes, unless a kernel has called back meanwhile. If
// none is left to do so it ends the run.
func (r *run) stop() bool {
	r.mu.Lock()
	if len(r.notes) > 0 {
		r.mu.Unlock()
		return false
	}
	over := r.inflight == 0
	if over && r.takeLate() {
		r.mu.Unlock()
		return false
	}
	r.running = false
	r.mu.Unlock()
	if over {
		r.end()
	}
	return true
}

// takeLate makes the late nodes ready, once nothing else is left.
func (r *run) takeLate() bool {
	if r.err != nil || len(r.late) == 0 {
		return false
	}
	r.ready, r.late, r.lateNow = append(r.ready, r.late...), r.late[:0], true
	return true
}

// runReady runs nodes until none is ready or a kernel panics. It reports whether
// the caller still runs nodes.
func (r *run) runReady() (mine bool) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
			mine = true
		}
	}()
	for !r.idle() {
		if len(r.reads) == 0 && r.noted.Load() {
			r.readNotes()
			continue
		}
		if !r.dispatch(r.pop()) {
			return false
		}
	}
	return true
}

// panicked makes a kernel's panic the error of its node. An asynchronous kernel may
// have called back, or still do so from another goroutine: only the first note counts
// (add), so that the node ends once.
func (r *run) panicked(v any) {
	n := r.computing
	if n.x == nil {
		panic(v)
	}
	r.computing = ready{}
	it := &r.e.items[n.item]
	err := it.panicked(v)
	if it.async == nil {
		r.finish(n.x, n.item, err)
		return
	}
	r.fail(it.failure(err, &n.x.ctx[it.local])) // even if it has called back before
	r.complete(n.x, n.item, err)
}

// dispatch runs one node, or passes on that it is dead. It reports whether the
// caller still runs nodes.
func (r *run) dispatch(n ready) bool {
	if n.item == looping {
		if r.err == nil {
			r.loop(n.x)
		}
		return true
	}
	it := &r.e.items[n.item]
	switch {
	case r.err != nil:
	case r.over():
		r.fail(r.stopped(n.item))
	case it.kind >= enter:
		r.cross(n.x, it, n.dead)
	case n.dead && it.kind != transfer:
		r.leave(n.x, it, true)
		r.propagate(n.x, it, true)
	default:
		return r.compute(n, it)
	}
	return true
}

func (r *run) compute(n ready, it *item) bool {
	x, c := n.x, &n.x.ctx[it.local]
	c.Dead, c.FrameID, c.Iteration = n.dead, x.frame.id, x.number
	if r.traced() {
		x.clock(it).Start = time.Now()
	}
	if err := r.load(x, it, c); err != nil {
		r.finish(x, n.item, err)
		return true
	}
	if r.traced() {
		c.Pool.Passing(c.ID) // what has been given back since the node before
		x.clock(it).KernelStart = time.Now()
	}
	if r.heavy(it, c) {
		return r.apart(n, it)
	}
	r.computing = n
	if it.async != nil {
		r.expect(x, it)
		it.async(c, x.dones[it.local])
		r.computing = ready{}
		return true
	}
	err := it.sync(c)
	r.computing = ready{}
	if r.traced() {
		x.clock(it).KernelEnd = time.Now()
	}
	r.finish(x, n.item, err)
	return true
}

// load puts into c what the node reads, and whether it is the last to do so.
func (r *run) load(x *iteration, it *item, c *core.OpContext) error {
	if it.kind == merge {
		k := x.counts[it.local].pick
		clear(c.In)
		c.In[k] = x.slots[it.in[k]]
		if it.deref != nil && it.deref[k] {
			c.Last[k] = false
			return it.loadRef(int(k), c, x.frame.layout)
		}
		c.Last[k] = x.readers[it.in[k]] == 1
		return nil
	}
	for k, slot := range it.in {
		c.Last[k] = x.readers[slot] == 1 && !(it.deref != nil && it.deref[k])
	}
	return it.load(x, c, x.frame.layout)
}

// expect says that the node's kernel will call back.
func (r *run) expect(x *iteration, it *item) {
	r.inflight++
	r.mu.Lock()
	x.busy[it.local] = true
	r.mu.Unlock()
}

// complete is what an asynchronous kernel calls back, on whatever goroutine it is
// done. What it makes ready is not run here: the caller is some other run's
// Send, or a network's reader, and has work of its own.
func (r *run) complete(x *iteration, i int32, err error) {
	if r.add(note{x, i, err, false}) {
		r.continueRun()
	}
}

// continueRun has another goroutine run nodes: one that waits for the step, if
// there is a Resume hook, or a new one. The caller has set r.running.
func (r *run) continueRun() {
	if f := r.hooks.Resume; f != nil {
		f(r.again)
		return
	}
	go r.work()
}

// add leaves a note; only the first one for a node counts. It reports whether
// the caller has become the owner and has to run nodes now.
func (r *run) add(n note) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	busy := &n.x.busy[r.e.items[n.item].local]
	if !*busy {
		return false
	}
	*busy = false
	if r.traced() {
		n.x.clock(&r.e.items[n.item]).KernelEnd = time.Now()
	}
	r.notes = append(r.notes, n)
	r.noted.Store(true)
	first := !r.running
	r.running = true
	return first
}

// readNotes takes up what asynchronous kernels have done, and reports whether
// that was anything.
func (r *run) readNotes() bool {
	r.mu.Lock()
	notes := r.notes
	r.notes, r.spare = r.spare[:0], notes
	r.noted.Store(false)
	r.mu.Unlock()
	for k, n := range notes {
		r.inflight--
		if n.other {
			r.others--
		}
		r.finish(n.x, n.item, n.err)
		notes[k] = note{}
	}
	return len(notes) > 0
}

// finish ends a node whose kernel has run.
func (r *run) finish(x *iteration, i int32, err error) {
	it := &r.e.items[i]
	c := &x.ctx[it.local]
	c.GiveBack()
	if err == nil {
		err = it.check(c)
	}
	if r.traced() && err == nil {
		r.report(x, i)
	}
	if err != nil && r.err == nil {
		r.fail(it.failure(err, c))
	}
	if r.err != nil {
		it.unload(c)
		return // values are given up when all has ended
	}
	r.leave(x, it, false)
	r.propagate(x, it, false)
}

// fail ends the run at its first error: no other node begins.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
		r.hooks.Fail(err)
	}
}

// end reports the run's result. Nothing is under way any more.
func (r *run) end() {
	err, done := r.err, r.hooks.Done
	r.recycle(true)
	done(err)
}
