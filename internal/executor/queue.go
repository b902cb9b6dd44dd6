package executor

import (
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// begin makes the nodes without inputs ready.
func (r *run) begin() {
	x := r.root.iters[0]
	x.reset(r.root.layout)
	for _, i := range r.e.roots {
		r.push(x, i, false)
	}
}

func (r *run) push(x *iteration, i int32, dead bool) {
	x.outstanding++
	if r.traced() {
		r.noteReady(x, &r.e.items[i])
	}
	r.ready = append(r.ready, ready{x, i, dead})
}

// work runs nodes until none is ready. The caller has set r.running.
func (r *run) work() {
	for {
		for len(r.ready) > 0 {
			if !r.some() {
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
	r.running = false
	over := r.inflight == 0
	r.mu.Unlock()
	if over {
		r.end()
	}
	return true
}

// some runs nodes until none is ready or a kernel panics. It reports whether
// the caller still runs nodes.
func (r *run) some() (mine bool) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
			mine = true
		}
	}()
	for n := len(r.ready); n > 0; n = len(r.ready) {
		if r.noted.Load() {
			r.readNotes()
			continue
		}
		next := r.ready[n-1]
		r.ready = r.ready[:n-1]
		if !r.node(next) {
			return false
		}
	}
	return true
}

// panicked makes a kernel's panic the error of its node.
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

// node runs one node, or passes on that it is dead. It reports whether the
// caller still runs nodes.
func (r *run) node(n ready) bool {
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
		r.fail(r.stopped())
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
func (r *run) load(x *iteration, it *item, c *tf.OpContext) error {
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

// complete hears from an asynchronous kernel, on whatever goroutine it is
// done. What it makes ready is not run here: the caller is some other run's
// Send, or a network's reader, and has work of its own.
func (r *run) complete(x *iteration, i int32, err error) {
	if r.add(note{x, i, err, false}) {
		r.goOn()
	}
}

// goOn lets somebody run nodes.
func (r *run) goOn() {
	if f := r.hooks.Resume; f != nil {
		f(r.again)
		return
	}
	go r.work()
}

// add leaves a note; only the first one for a node counts. It reports whether
// the caller has to run nodes now, because nobody does.
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
