package executor

import (
	"time"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Kernels that take long are treated like those that wait: the owner that runs one
// gives up the ownership meanwhile, or leaves the kernel to another goroutine if there are
// other nodes to run. Large kernels use many threads each, but seldom all of
// them all the time.

// heavyBytes is the size of inputs below which a kernel is not worth a
// goroutine of its own, whatever its op says.
const heavyBytes = 64 << 10

// shortKernel is the time of a kernel up to which the other nodes wait for it: about as
// long as it takes until another goroutine runs.
const shortKernel = 100 * time.Microsecond

// heavy reports whether the node is to be run apart from others.
func (r *run) heavy(it *item, c *core.OpContext) bool {
	if !it.heavy {
		return false
	}
	if t := it.time.Load(); t > 0 && t < int64(r.e.short) {
		return false
	}
	n := 0
	for k := range c.In {
		if t := c.In[k].T; t != nil {
			n += t.NumBytes()
		}
	}
	return n >= heavyBytes
}

// apart runs a heavy node. It reports whether the caller still runs nodes.
func (r *run) apart(n ready, it *item) bool {
	c := &n.x.ctx[it.local]
	r.expect(n.x, it)
	if r.noted.Load() {
		r.readNotes() // perhaps there is something else to run
	}
	if !r.idle() && r.others < r.workers()-1 {
		r.others++
		go func() {
			if r.add(note{n.x, n.item, it.computeGuarded(c), true}) {
				r.work()
			}
		}()
		return true
	}
	yielded := r.yield()
	mine := r.add(note{n.x, n.item, it.computeGuarded(c), false})
	return mine || !yielded
}

// workers bounds the heavy nodes of the step that are computed at once.
func (r *run) workers() int {
	if n := r.step.InterOp; n > 0 {
		return min(n, r.e.workers)
	}
	return r.e.workers
}

// computeGuarded calls the kernel of a node that does not wait, and turns a panic
// into an error.
func (it *item) computeGuarded(c *core.OpContext) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = it.panicked(v)
		}
	}()
	return it.sync(c)
}

// timed makes the item know how long its kernel takes.
func (it *item) timed() {
	compute := it.sync
	it.untimed = compute
	it.sync = func(c *core.OpContext) error {
		start := time.Now()
		err := compute(c)
		it.took(time.Since(start))
		return err
	}
}

// took notes a time: one that is shorter than what is known at once, a longer
// one little by little, for the kernel may just have been interrupted.
func (it *item) took(d time.Duration) {
	t := max(1, int64(d))
	if known := it.time.Load(); known > 0 {
		t = min(t, known+known/4+1)
	}
	it.time.Store(t)
}

// yield lets another goroutine run nodes, unless there are some to be run.
func (r *run) yield() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.idle() || len(r.notes) > 0 {
		return false
	}
	r.running = false
	return true
}

// findHeavy marks the nodes that are worth running at once with others. There
// are none if each of them depends on the one before.
func (b *builder) findHeavy(workers int) {
	if workers < 2 {
		return
	}
	depth, count, longest := make([]int, len(b.order)), 0, 0
	for _, n := range b.order {
		for _, x := range n.In {
			depth[n.ID] = max(depth[n.ID], depth[x.Node.ID])
		}
		for _, c := range n.Control {
			depth[n.ID] = max(depth[n.ID], depth[c.ID])
		}
		if mayBeHeavy(n) {
			depth[n.ID]++
			count++
		}
		longest = max(longest, depth[n.ID])
	}
	if count == longest {
		return
	}
	b.workers = workers
	for i, n := range b.order {
		if it := &b.items[i]; mayBeHeavy(n) && it.async == nil {
			it.heavy = true
			it.timed()
		}
	}
}

// mayBeHeavy reports whether n's op says so and its inputs, as far as their
// shapes are known, are not small.
func mayBeHeavy(n *graph.Node) bool {
	if !n.Def.Expensive {
		return false
	}
	bytes := 0
	for _, x := range n.In {
		s := x.Node.OutShape(x.Out)
		if !s.Known() {
			return true
		}
		bytes += s.NumElements() * x.Type().Size()
	}
	return bytes >= heavyBytes
}
